import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Inputs } from './input-context.js';

/** What needs a provider of calls that no server has (organization §20), and exports, which have a test of their own. */
export const NEVER_ACCEPTED: ReadonlySet<string> = new Set([
  'POST /calls/zoom/create',
  'POST /calls/constructorgroups/create',
  'POST /calls/nextcloud_talk/create',
  'POST /calls/webex/create',
  'POST /export/realm',
  'DELETE /export/realm/:export_id',
  'GET /user_avatars/exports/*path_id',
]);

/**
 * For each operation, by its name, the worst requests that it accepts: what types do not tell, such as names that exist, and
 * numbers that go together. Each must succeed. What generated inputs vary is the first one, which costs little. An operation
 * whose parameters are all optional needs no entry.
 */
export const ACCEPTED_INPUTS: Inputs = Object.assign(
  {},
  ...readdirSync(join(__dirname, 'inputs')).map(
    (name) => (require(join(__dirname, 'inputs', name)) as { readonly INPUTS: Inputs }).INPUTS,
  ),
);
