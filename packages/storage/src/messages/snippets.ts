import { SNIPPET_ROWS, type Snippet } from '@parley/domain/messages';
import { userRows } from '../engine/user-rows.js';

export const SNIPPET_FEATURE = userRows<'snippets', Snippet>('snippets', SNIPPET_ROWS, {
  step: 1,
  columns: { title: 'text', content: 'text', createdAt: 'int' },
  indices: { snippet_by_user: 'user_id, id, realm_id' },
});
