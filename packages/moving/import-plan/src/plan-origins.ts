import type { ImportedKind, RecordOrigin } from '@parley/domain/exports';
import { getOrThrow, type UserId } from '@parley/domain/kernel';
import { emailKey, externalIdKey, PLACEHOLDER_DOMAIN } from '@parley/domain/membership';
import type { ImportOrigins } from '@parley/transfer/exports';
import type { ComparedKind, ExportedRecords } from '@parley/transfer/imports';
import type { ChannelRecord, GroupRecord } from '@parley/transfer/records';
import { digestOf, groupDigest, membersDigest, messageDigest } from './digest.js';
import type { ExistingOrganization } from './existing-organization.js';
import type { PlannedPeople, PlannedUser } from './plan-people.js';
import { type PlannedEmoji, type PlannedGroup, type PlannedPlaces, placeKey } from './plan-places.js';
import type { MessageKey, Staging } from './staging.js';

interface PlannedClaim {
  readonly userId: UserId;
  readonly key: string;
}

export interface OriginSources {
  readonly staging: Staging;
  readonly people: PlannedPeople;
  readonly places: PlannedPlaces;
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  readonly emoji: ReadonlyMap<string, PlannedEmoji>;
  /** See `PlanOptions`. */
  readonly claimBy: readonly string[];
  readonly existing: ExistingOrganization;
  readonly fingerprint: string | undefined;
}

/** Lists the records that people, groups, channels with their members, direct conversations and emoji of the plan come from. */
export function originsOf(sources: OriginSources): ImportOrigins {
  const { staging, people, places, groups, emoji, claimBy, fingerprint, existing } = sources;
  const found = (record: { readonly id: string }, kind: ImportedKind, targetId: number | undefined) =>
    targetId === undefined
      ? []
      : [{ origin: { kind, recordId: record.id, hash: digestOf(JSON.stringify(record)) }, targetId }];
  return {
    source: staging.source ?? '',
    *list() {
      for (const { record } of staging.list('person')) yield* found(record, 'person', people.find(record.id)?.id);
      for (const [recordId, { id }] of people.unlisted) {
        yield { origin: { kind: 'person', recordId, hash: digestOf('') }, targetId: id };
      }
      for (const { record } of staging.list('group')) {
        const { members: _, hasMoreMembers: __, ...group } = record;
        const { id } = getOrThrow(groups, record.id);
        yield* found(group, 'group', id);
        yield { origin: groupMembersOrigin(record), targetId: id };
      }
      for (const { record } of staging.list('channel')) {
        const { id, isExisting = false } = places.findChannel(record.id) ?? {};
        if (record.isUnlisted && isExisting) continue;
        // The digest of the members includes the privacy.
        const { members: _, hasMoreMembers: __, privacy: ___, ...channel } = record;
        yield* found(channel, 'channel', id);
        if (id !== undefined) yield { origin: membersOrigin(record), targetId: id };
      }
      for (const { record } of staging.list('conversation')) {
        const place = places.find(placeKey({ conversation: record.id }));
        yield* found(record, 'conversation', place?.recipientId);
      }
      for (const { record } of staging.list('emoji')) yield* found(record, 'emoji', emoji.get(record.name)?.id);
    },
    claims: () => claimsOf(people, claimBy, existing),
    export:
      fingerprint === undefined
        ? null
        : { origin: { kind: 'export', recordId: fingerprint, hash: '' }, targetId: staging.ledger.records },
  };
}

export const membersOrigin = (record: ChannelRecord): RecordOrigin => ({
  kind: 'members',
  recordId: record.id,
  hash: membersDigest(record),
});

export const groupMembersOrigin = (record: GroupRecord): RecordOrigin => ({
  kind: 'groupMembers',
  recordId: record.id,
  hash: groupDigest(record),
});

/**
 * Lists the keys of placeholders. Nobody can claim a key that several people have. Owners add keys only to placeholders
 * of their own imports, because a key gives access to the direct messages of the person.
 */
export function claimsOf(
  { users }: PlannedPeople,
  claimBy: readonly string[],
  { isOwn }: Pick<ExistingOrganization, 'isOwn'>,
): readonly PlannedClaim[] {
  const holders = new Map<string, PlannedUser | null>();
  for (const user of users) {
    for (const key of keysOf(user, claimBy)) holders.set(key, holders.has(key) ? null : user);
  }
  return [...holders].flatMap(([key, user]) =>
    user && (!user.isExisting || isOwn('person', user.id)) ? [{ userId: user.id, key }] : [],
  );
}

/** Returns no keys for people who left the source before the export. */
function keysOf(
  { email: address, isActive, isBot, person }: PlannedUser,
  claimBy: readonly string[],
): readonly string[] {
  const isPlaceholder = !isActive && !isBot && address.endsWith(`@${PLACEHOLDER_DOMAIN}`);
  if (!isPlaceholder || !person || person.isDeactivated) return [];
  const { email, externalId } = person;
  return claimBy.flatMap((by) => {
    if (by === 'email') return email === undefined ? [] : [emailKey(email)];
    return externalId === undefined ? [] : [externalIdKey(by, externalId)];
  });
}

const recordKindOf = (kind: ComparedKind) =>
  kind === 'members' ? 'channel' : kind === 'groupMembers' ? 'group' : kind;

/** Lists the records that objects of the plan come from, with messages. */
export function recordsOf(
  origins: ImportOrigins,
  { staging, people }: Pick<OriginSources, 'staging' | 'people'>,
): ExportedRecords {
  return {
    source: origins.source,
    *list() {
      for (const { origin } of origins.list()) yield origin;
      yield* messageOrigins(staging);
    },
    has: (kind, recordId) =>
      staging.find(recordKindOf(kind), recordId) !== null || (kind === 'person' && people.unlisted.has(recordId)),
  };
}

function* messageOrigins(staging: Staging): Generator<RecordOrigin> {
  const sql = `SELECT planned.number AS planned, records.number, records.id, records.json
    FROM planned JOIN records ON records.number = planned.record
    WHERE planned.number > ? AND planned.role = 'message' ORDER BY planned.number LIMIT ?`;
  const query = { sql, after: 0, keyOf: ({ planned }: { readonly planned: number }) => planned };
  for (const page of staging.pages<MessageKey & { readonly planned: number; readonly json: string }>(query)) {
    for (const { json, ...message } of page) {
      yield { kind: 'message', recordId: message.id, hash: messageDigest(json, staging.changes(message)) };
    }
  }
}
