import { READ_CONTEXT_FEATURE as READ_CONTEXTS, type ReadContext } from '@parley/domain/channels';
import { type AccessTokenRow, ACCESS_TOKEN_FEATURE as DECLARED } from '@parley/domain/log-in';
import { Table } from '../engine/declared-rows.js';
import { type Fate, KEY } from '../engine/personal-data.js';

const TOKENS = new Table<AccessTokenRow>(DECLARED.rows.accessTokens, {
  columns: {
    fingerprint: 'text',
    actions: 'texts',
    conversations: 'texts',
    origin: 'text?',
    createdAt: 'int',
    expiresAt: 'int',
    lastUsedAt: 'int?',
    readers: 'text?',
  },
  indices: ['INDEX access_token_by_user ON access_token (user_id, id, realm_id)'],
  addedColumns: ['readers'],
}).feature(51, 'accessTokens', { data: 'Tokens for conversations', fate: KEY, erase: 'user_id = {id}' });

/** Schema step of tokens with `readers`. */
const STEP = 73;

const FATE: Fate = { ends: ['become', 'signOut', 'deactivation', 'inherit'], stays: 'expires' };

const CONTEXTS = new Table<ReadContext>(READ_CONTEXTS.rows.readContexts, {
  columns: { tokenId: 'int', name: 'text', messageIds: 'ids', channelIds: 'ids', expiresAt: 'int' },
  indices: ['INDEX read_context_by_user ON read_context (user_id, id, realm_id)'],
}).feature(STEP, 'readContexts', { data: 'What tokens of agents have read', fate: FATE, erase: 'user_id = {id}' });

const AGENTS = `${CONTEXTS.steps[STEP]}
  -- expand: existing tokens have the rights of their users.
  ALTER TABLE access_token ADD COLUMN readers {text};
  -- What all readers of a channel can read depends on the guests among them.
  CREATE INDEX user_guests ON {user} (realm_id, id) WHERE role = 'guest';`;

export const ACCESS_TOKEN_FEATURE = {
  ...TOKENS,
  steps: { ...TOKENS.steps, [STEP]: AGENTS },
  // A restored context lacks what was read after the backup.
  counters: ['DELETE FROM read_context'],
  realmTables: [...TOKENS.realmTables, ...CONTEXTS.realmTables],
  persons: { ...TOKENS.persons, ...CONTEXTS.persons },
  rows: { ...TOKENS.rows, ...CONTEXTS.rows },
  notExported: {
    access_token: DECLARED.notExported.accessTokens,
    read_context: READ_CONTEXTS.notExported.readContexts,
  },
};
