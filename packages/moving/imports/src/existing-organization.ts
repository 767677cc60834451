import { SYSTEM_GROUPS, type SystemGroupName } from '@parley/domain/access';
import {
  IMPORTED_MESSAGE_KINDS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  type MembershipState,
  type MembersPlace,
  membershipsOf,
  type RealmCopy,
  type RealmReader,
  recordsOfBatch,
  requireNoUndo,
} from '@parley/domain/exports';
import type { ChannelId, GroupId, MessageId, RealmId, UnitOfWork, UserId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import { SYSTEM_BOTS } from '@parley/domain/users';

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
  /** Returns the digest of the members at the last import, by the record of their channel or group. */
  membersHash(kind: 'members' | 'groupMembers', recordId: string): string | undefined;
  /** Returns the memberships in a channel or group of an earlier import. */
  memberships(place: MembersPlace): Promise<ReadonlyMap<UserId, MembershipState>>;
  /** Archived channels of imports that are incomplete or undone. */
  readonly hiddenChannels: ReadonlySet<ChannelId>;
  /** Messages of earlier imports, with the pinned ones that lists contain. */
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
 * @throws DomainError UNDO_UNFINISHED
 */
export async function loadExisting(
  realmId: RealmId,
  source: string,
  uow: UnitOfWork,
  reader: Pick<RealmReader, 'open'>,
): Promise<ExistingOrganization> {
  const all = await uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
  requireNoUndo(all);
  const batches = all.filter((batch) => batch.source === source);
  const targets = new Map<ImportedKind, Map<string, number>>(SMALL_KINDS.map((kind) => [kind, new Map()]));
  const membersHashes = { members: new Map<string, string>(), groupMembers: new Map<string, string>() };
  const hiddenChannels = new Set<ChannelId>();
  for (const batch of batches) {
    for (const kind of SMALL_KINDS) {
      for await (const page of recordsOfBatch(uow, batch, kind)) {
        for (const { recordId, targetId } of page) {
          targets.get(kind)!.set(recordId, targetId);
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
  const { realm } = await reader.open(realmId, { covers: 'all' });
  // Channels with messages that an undo kept are in use.
  for (const { id, isArchived } of realm.channels) if (!isArchived) hiddenChannels.delete(id);
  return {
    realm,
    batches,
    target: (kind, recordId) => targets.get(kind)?.get(recordId),
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
