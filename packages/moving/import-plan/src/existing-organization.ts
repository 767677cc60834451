import { SYSTEM_GROUPS, type SystemGroupName } from '@parley/domain/access';
import {
  IMPORTED_MESSAGE_KINDS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  recordsOfBatch,
  requireNoUndo,
} from '@parley/domain/exports';
import {
  type ChannelId,
  type GroupId,
  getOrThrow,
  type ImportBatchId,
  invalidImport,
  type MessageId,
  type RealmCopy,
  type RealmId,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import { SYSTEM_BOTS } from '@parley/domain/users';
import type { RealmReader } from '@parley/transfer/exports';
import { type MembershipState, type MembersPlace, membershipsOf } from '@parley/transfer/imports';

/** Kinds of objects that owners change only if their own imports created them. */
type OwnedKind = 'person' | 'group' | 'channel';

type StoredParts = Pick<
  RealmCopy,
  'users' | 'groups' | 'channels' | 'conversations' | 'customEmoji' | 'channelFolders'
>;

/** Organization that an export is imported into. Its objects keep their ids in the plan. */
export interface ExistingOrganization {
  readonly realm: StoredParts;
  /** Earlier imports of the source. */
  readonly batches: readonly ImportBatch[];
  /** Returns the id of the object that an earlier import created from a record. */
  target(kind: ImportedKind, recordId: string): number | undefined;
  /** True if imports of the requester created the object of an earlier import; for the operator, true for all. */
  isOwn(kind: OwnedKind, targetId: number): boolean;
  /** True if the requester may change the messages of an earlier import. */
  isOwnBatch(id: ImportBatchId): boolean;
  /** Returns the digest of the members at the last import, by the record of their channel or group. */
  membersHash(kind: 'members' | 'groupMembers', recordId: string): string | undefined;
  /** Returns the memberships in a channel or group of an earlier import. */
  memberships(place: MembersPlace): Promise<ReadonlyMap<UserId, MembershipState>>;
  /** Archived channels of imports that are incomplete or undone. */
  readonly hiddenChannels: ReadonlySet<ChannelId>;
  /** Previously imported messages, including pinned ones. */
  messages(): AsyncIterable<readonly ImportedRecord[]>;
  /** Returns messages as they are now; deleted ones are absent. */
  current(
    ids: readonly MessageId[],
  ): Promise<
    ReadonlyMap<MessageId, Pick<Message, 'topic' | 'channelId' | 'recipientId' | 'sentRecipientId' | 'sentAt'>>
  >;
}

/** Empty organization in place of one that the import creates. */
export const NEW_ORGANIZATION: ExistingOrganization = {
  realm: { users: [], groups: [], channels: [], conversations: [], customEmoji: [], channelFolders: [] },
  batches: [],
  target: () => undefined,
  isOwn: () => true,
  isOwnBatch: () => true,
  membersHash: () => undefined,
  memberships: async () => new Map(),
  hiddenChannels: new Set(),
  async *messages() {},
  current: async () => new Map(),
};

/** Records kept in memory. */
const SMALL_KINDS = ['person', 'group', 'channel', 'conversation', 'emoji'] as const;

/**
 * Loads an organization with the earlier imports of a source.
 * @param requesterId owner on whose behalf the import runs; null for the operator
 * @throws DomainError UNDO_UNFINISHED, INVALID_IMPORT
 */
export async function loadExisting(
  realmId: RealmId,
  source: string,
  uow: UnitOfWork,
  reader: Pick<RealmReader, 'open'>,
  requesterId: UserId | null = null,
): Promise<ExistingOrganization> {
  const all = await uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
  requireNoUndo(all);
  const batches = all.filter((batch) => batch.source === source);
  const other = all.find((batch) => batch.source.startsWith(`${source}:`));
  if (other && batches.length === 0) {
    throw invalidImport(
      `Its files do not say which workspace or server it is from, so a list of people, channels or settings is missing. ` +
        `An earlier import is from ${other.source}.`,
    );
  }
  const targets = new Map<ImportedKind, Map<string, number>>(SMALL_KINDS.map((kind) => [kind, new Map()]));
  const membersHashes = { members: new Map<string, string>(), groupMembers: new Map<string, string>() };
  const hiddenChannels = new Set<ChannelId>();
  for (const batch of batches) {
    for (const kind of SMALL_KINDS) {
      for await (const page of recordsOfBatch(uow, batch, kind)) {
        for (const { recordId, targetId } of page) {
          getOrThrow(targets, kind).set(recordId, targetId);
          if (kind !== 'channel') continue;
          if (batch.status === 'complete') hiddenChannels.delete(targetId as ChannelId);
          else hiddenChannels.add(targetId as ChannelId);
        }
      }
    }
    for (const kind of ['members', 'groupMembers'] as const) {
      for await (const page of recordsOfBatch(uow, batch, kind)) {
        for (const { recordId, hash } of page) membersHashes[kind].set(recordId, hash);
      }
    }
  }
  const isOwn = requesterId === null ? NEW_ORGANIZATION.isOwn : await ownObjects(uow, all, requesterId);
  const { realm } = await reader.open(realmId, { covers: 'all' });
  // Channels with messages that an undo kept are in use.
  for (const { id, isArchived } of realm.channels) if (!isArchived) hiddenChannels.delete(id);
  return {
    realm,
    batches,
    target: (kind, recordId) => targets.get(kind)?.get(recordId),
    isOwn,
    isOwnBatch: (id) => requesterId === null || batches.find((batch) => batch.id === id)?.requesterId === requesterId,
    membersHash: (kind, recordId) => membersHashes[kind].get(recordId),
    memberships: (place) => membershipsOf(uow, batches, place),
    hiddenChannels,
    async *messages() {
      for (const batch of batches) {
        for (const kind of [...IMPORTED_MESSAGE_KINDS, 'pin'] as const) yield* recordsOfBatch(uow, batch, kind);
      }
    },
    current: async (ids) => {
      const messages = await uow.read(realmId, (reads) => reads.messages.list(realmId, ids));
      return new Map(messages.map((message) => [message.id, message]));
    },
  };
}

/** Returns a predicate for objects whose first import was the requester's. Later imports only refer to them. */
async function ownObjects(
  uow: UnitOfWork,
  batches: readonly ImportBatch[],
  requesterId: UserId,
): Promise<ExistingOrganization['isOwn']> {
  const owners: Record<OwnedKind, Map<number, UserId | null>> = {
    person: new Map(),
    group: new Map(),
    channel: new Map(),
  };
  for (const batch of batches) {
    for (const [kind, targets] of Object.entries(owners) as [OwnedKind, Map<number, UserId | null>][]) {
      for await (const page of recordsOfBatch(uow, batch, kind)) {
        for (const { targetId } of page) if (!targets.has(targetId)) targets.set(targetId, batch.requesterId);
      }
    }
  }
  return (kind, targetId) => owners[kind].get(targetId) === requesterId;
}

/** Returns the first id for a new object of the plan. */
export const nextIdAfter = (used: Iterable<{ readonly id: number }>, reserved = 0): number => {
  let last = reserved;
  for (const { id } of used) last = Math.max(last, id);
  return last + 1;
};

/** Ids of the system groups: those of the organization, or the first ones of a new organization. */
export function systemGroupIds({ realm }: ExistingOrganization): Readonly<Record<SystemGroupName, GroupId>> {
  const existing = new Map(realm.groups.map(({ systemName, id }) => [systemName, id]));
  return Object.fromEntries(
    SYSTEM_GROUPS.map(({ name }, index) => [name, existing.get(name) ?? index + 1]),
  ) as Readonly<Record<SystemGroupName, GroupId>>;
}

/** System bot that sends the lines added by the import. */
export const noticeSender = ({ realm }: ExistingOrganization): UserId =>
  realm.users.find(({ systemKind }) => systemKind === SYSTEM_BOTS[0].kind)?.user.id ?? (1 as UserId);
