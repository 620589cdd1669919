-- Two that wrote a, two that wrote A and one that wrote á, in a collation that takes them for one.
{{ config(materialized='table') }}
select
  word as plain, [word] as listed, {'word': word, 'number': 1} as packed, [{'words': [word]}] as deep,
  {'word': to_json(word), 'words': [word]} as beside_json,
  {'word': word, 'other': 1::variant} as beside_variant,
  [word::variant] as variants, map {1: word} as mapped
from (select word collate nocase.noaccent as word from (select unnest(['a', 'A', 'á', 'a', 'A']) as word))
