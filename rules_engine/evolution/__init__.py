"""How rules are found, tried, trusted, doubted and dropped: pure, as folds, generators and trials."""
