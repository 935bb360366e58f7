"""The bounded cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from gateway.cache import BoundedCache


def test_what_was_used_longest_ago_goes_first() -> None:
    """Looking a value up counts as use; asking whether it is there does not."""
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.has("b")
    cache.put("c", 3)

    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_a_value_larger_than_the_cache_is_not_kept() -> None:
    """It also takes no other value's place."""
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 11)

    assert cache.get("a") == 1
    assert not cache.has("b")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 8))))
def test_the_sum_of_sizes_never_passes_the_limit(puts: list[tuple[int, int]]) -> None:
    """And it is the sum of what is held."""
    cache: BoundedCache[int, int] = BoundedCache(20)
    sizes = {}
    for key, size in puts:
        cache.put(key, size, size)
        sizes[key] = size

        assert cache.size <= 20
        assert cache.size == sum(sizes[k] for k in range(10) if cache.has(k))


def test_threads_share_a_cache_without_breaking_its_bounds() -> None:
    """Each get, put and drop is whole, whatever others do meanwhile."""
    cache: BoundedCache[int, int] = BoundedCache(50)

    def use(seed: int) -> None:
        for k in range(3000):
            cache.put((k * seed) % 97, k, 1 + k % 5)
            cache.get((k + seed) % 97)
            cache.drop(k % 89)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, (3, 5, 7, 11)))

    assert cache.size <= 50
    for key in range(97):
        cache.drop(key)
    assert cache.size == 0


def test_its_values_from_the_one_used_last_on() -> None:
    """Listing them does not count as use."""
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")

    assert cache.values() == [1, 2]
    assert cache.values() == [1, 2]
