import type { UserId } from '@parley/domain/kernel';
import { ListAuditEntries, type StoredAuditEntry } from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { definedFields, IntegerParam, TextParam } from '../kernel/params.js';
import * as wire from '../wire/schema.js';

const MAX_PER_PAGE = 500;

class ListAuditDto {
  @IntegerParam({ optional: true, description: 'Only entries of this user.' }) actor_id?: number;
  @IntegerParam({ optional: true, description: 'Only entries about this user.' }) user_id?: number;
  @TextParam({ optional: true, max: 200, description: 'Only entries of this operation, such as `PATCH /realm`.' })
  action?: string;
  @IntegerParam({ optional: true, min: 0, description: 'Earliest time in Unix seconds.' }) since?: number;
  @IntegerParam({ optional: true, min: 0, description: 'Latest time in Unix seconds.' }) until?: number;
  @IntegerParam({ optional: true, min: 0, description: 'Only entries with lower ids, for the next page.' })
  before?: number;
  @IntegerParam({ min: 1, max: MAX_PER_PAGE, description: 'Maximum number of entries.' }) limit = 100;
}

const ENTRY = wire.named(
  'AuditEntry',
  wire.fields({
    id: wire.integer(),
    time: wire.integer(),
    actor_id: wire.nullable(wire.integer()),
    program: wire.nullable(wire.text()),
    action: wire.text(),
    user_id: wire.nullable(wire.integer()),
    target: wire.anything(),
    changes: wire.anything(),
    details: wire.anything(),
    is_erased: wire.boolean(),
    hash: wire.text(),
  }),
);

/** Presents an entry; a damaged part is shown as its text. */
const presentEntry = (entry: StoredAuditEntry) => ({
  id: entry.number,
  time: entry.at,
  actor_id: entry.actorId,
  program: entry.program,
  action: entry.action,
  user_id: entry.subjectId,
  target: jsonOf(entry.target),
  changes: jsonOf(entry.changes),
  details: entry.detail && jsonOf(entry.detail.content),
  is_erased: entry.detailDigest !== null && entry.detail === null,
  hash: entry.digest,
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const auditRoutes = (): readonly Route[] => [
  route('GET', '/audit', {
    summary: 'List entries of the audit log',
    extension: 'extensions §13',
    withoutPage: 'scripts',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: ListAuditDto,
    useCase: ListAuditEntries,
    toInput: ({ actor_id, user_id, action, since, until, before, limit }) => ({
      ...definedFields({ actorId: actor_id as UserId, subjectId: user_id as UserId, action, since, until, before }),
      limit,
    }),
    response: wire.fields({ entries: wire.listOf(ENTRY) }),
    present: (entries) => ({ entries: entries.map(presentEntry) }),
  }),
];

export const AUDIT = { tag: 'Organization', routes: auditRoutes } satisfies HttpFeature;
