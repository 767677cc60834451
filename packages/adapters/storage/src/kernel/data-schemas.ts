import { DATA_SCHEMA_ROWS, type DataSchema } from '@parley/domain/kernel';
import { Table } from '../engine/declared-rows.js';

export const DATA_SCHEMA_FEATURE = new Table<DataSchema>(DATA_SCHEMA_ROWS, {
  columns: { kind: 'text', schema: 'text' },
  indices: ['UNIQUE INDEX data_schema_by_kind ON data_schema (realm_id, kind)'],
}).feature(53, 'dataSchemas', { other: ['kind', 'schema'] });
