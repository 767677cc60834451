import { type AccessTokenRow, ACCESS_TOKEN_FEATURE as DECLARED } from '@parley/domain/log-in';
import { Table } from '../engine/declared-rows.js';
import { KEY } from '../engine/personal-data.js';

export const ACCESS_TOKEN_FEATURE = {
  ...new Table<AccessTokenRow>(DECLARED.rows.accessTokens, {
    columns: {
      fingerprint: 'text',
      actions: 'texts',
      conversations: 'texts',
      origin: 'text?',
      createdAt: 'int',
      expiresAt: 'int',
      lastUsedAt: 'int?',
    },
    indices: ['INDEX access_token_by_user ON access_token (user_id, id, realm_id)'],
  }).feature(51, 'accessTokens', { data: 'Tokens for conversations', fate: KEY, erase: 'user_id = {id}' }),
  notExported: { access_token: DECLARED.notExported.accessTokens },
};
