"""L4: raw logs of sessions become monthly zips, a history to search, and an index that the two can make anew.

temp/model_responses/model_responses_*.txt ─phases→ YYYY-MM.zip + all_histories.txt ─texts→ index.sqlite
"""
