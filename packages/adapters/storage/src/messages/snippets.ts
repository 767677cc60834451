import { SNIPPET_LIST, type Snippet } from '@parley/domain/writing';
import { Table } from '../engine/declared-rows.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';

export const SNIPPET_FEATURE = new Table<Snippet>(SNIPPET_LIST.rows, {
  columns: { title: 'text', content: 'text', createdAt: 'int' },
  indices: ['INDEX snippet_by_user ON snippet (user_id, id, realm_id)'],
}).feature(1, 'snippets', { data: 'Snippets', fate: OF_ACCOUNT, erase: 'user_id = {id}', mentions: ['content'] });
