import { type Channel, isPrivate, subscribeToChannels, unsubscribeFromChannels } from '@parley/domain/channels';
import {
  BEFORE_RECORDS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  restartClients,
} from '@parley/domain/exports';
import {
  type ChannelId,
  DomainError,
  getOrThrow,
  type ImportBatchId,
  type MessageId,
  type RealmId,
  type RecipientId,
  type Repositories,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import { isErased, isPlaceholder } from '@parley/domain/membership';
import type { Message } from '@parley/domain/messages';
import { changeEmail, type User } from '@parley/domain/users';
import { extendHolds, giveReactions, reactionsToGive } from '@parley/domain/writing';

export interface MergePlaceholderInput {
  readonly realmId: RealmId;
  readonly placeholderId: UserId;
  /** User who gets the messages. */
  readonly userId: UserId;
  /** True to change nothing. */
  readonly isDryRun: boolean;
}

export interface MergePlaceholderOutput {
  /** Numbers of messages and reactions by the placeholder. */
  readonly messages: number;
  readonly reactions: number;
  /** Number of messages that move from direct conversations of the placeholder to those of the user. */
  readonly directMessages: number;
  /** Channels that the user can read only since the merge. */
  readonly channels: readonly { readonly id: ChannelId; readonly name: string; readonly isPrivate: boolean }[];
}

export interface UnmergePlaceholderInput {
  readonly realmId: RealmId;
  readonly placeholderId: UserId;
}

type Counts = { -readonly [Name in 'messages' | 'reactions' | 'directMessages']: number };
type Reads = Repositories | Transaction;

/** Messages per unit of work, to limit the delay of other writes. */
const MESSAGES_AT_A_TIME = 50;
const CHANNELS_AT_A_TIME = 50;
/** Email domain of merged placeholders, which cannot be claimed. */
const MERGED_DOMAIN = 'merged.parley.invalid';

/**
 * Gives the messages, reactions, channels and direct conversations of a placeholder to a user, reversibly and in small
 * units of work. A killed run continues when it is repeated.
 */
export class MergePlaceholder {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_A_PLACEHOLDER, NOT_MERGED if it is reverted meanwhile */
  async execute(input: MergePlaceholderInput): Promise<MergePlaceholderOutput> {
    const { realmId, placeholderId, userId, isDryRun } = input;
    const { batches, channels } = await this.uow.read(realmId, async (reads) => {
      await loadMerge(reads, input);
      const gained = await gainedChannels(reads, input);
      return { batches: await reads.importBatches.list(realmId), channels: gained };
    });
    const counts: Counts = { messages: 0, reactions: 0, directMessages: 0 };
    if (!isDryRun) {
      await this.uow.write(realmId, (tx) => this.begin(tx, input));
      for (const some of slicesOf(channels, CHANNELS_AT_A_TIME)) {
        await this.uow.write(realmId, (tx) => this.subscribe(tx, input, some), { yields: true });
      }
    }
    for (const batch of batches) {
      await eachPage(this.uow, batch, { kind: 'message', isDryRun, counts }, async (reads, records) => {
        const messages = await reads.messages.list(realmId, targetsOf(records));
        const own = messages.filter(({ senderId }) => senderId === placeholderId);
        const reactions = await reactionsToGive(reads, messages, placeholderId, userId);
        const direct = await stayingDirect(reads, messages, placeholderId);
        const done = { messages: own.length, reactions: reactions.length, directMessages: direct.length };
        if (isDryRun) return done;
        const tx = reads as Transaction;
        // Somebody may have reverted the merge meanwhile.
        if (!(await loadMerge(tx, input)).merge) throw notMerged(placeholderId);
        await extendHolds(tx, realmId, { from: placeholderId, to: userId });
        await changeSenders(tx, own, placeholderId, userId);
        await giveReactions(tx, messages, reactions, userId);
        await tx.importedRecords.put(realmId, [
          ...own.map(({ id }) => changed(batch, 'mergedMessage', placeholderId, id)),
          ...direct.map(({ id }) => changed(batch, 'mergedDirectMessage', placeholderId, id)),
          ...reactions.map(({ messageId, type, code }) =>
            changed(batch, 'mergedReaction', placeholderId, messageId, ` ${type} ${code}`),
          ),
        ]);
        await moveDirect(tx, direct);
        return done;
      });
    }
    if (!isDryRun) await restartClients(this.uow, realmId, async () => {});
    return {
      ...counts,
      channels: channels.map((channel) => ({ id: channel.id, name: channel.name, isPrivate: isPrivate(channel) })),
    };
  }

  /** Remembers the merge. */
  private async begin(tx: Transaction, input: MergePlaceholderInput): Promise<void> {
    const { realmId, placeholderId, userId } = input;
    const { placeholder, merge } = await loadMerge(tx, input);
    if (merge) return;
    const [batch] = await tx.importBatches.list(realmId);
    const row = { batchId: batch!.id, editedAt: null, reactions: 0 };
    await tx.importedRecords.put(realmId, [
      { ...row, kind: 'merge', recordId: String(placeholderId), targetId: userId, hash: placeholder.email },
    ]);
    await changeEmail(tx, placeholder, `merged-${placeholderId}@${MERGED_DOMAIN}`);
  }

  /** Subscribes the user to the channels that are still missing. */
  private async subscribe(tx: Transaction, input: MergePlaceholderInput, some: readonly Channel[]): Promise<void> {
    const { realmId, placeholderId, userId } = input;
    const [batch] = await tx.importBatches.list(realmId);
    const ids = new Set(some.map(({ id }) => id));
    const channels = (await gainedChannels(tx, input)).filter(({ id }) => ids.has(id));
    await tx.importedRecords.put(
      realmId,
      channels.map(({ id }) => changed(batch!, 'mergedSubscription', placeholderId, id)),
    );
    await subscribeToChannels(tx, { channels, userIds: [userId], requestedColors: new Map() });
  }
}

/** Reverts a merge: returns the messages, reactions, channels and direct conversations that remain to the placeholder. */
export class UnmergePlaceholder {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NOT_MERGED, USER_ERASED */
  async execute({ realmId, placeholderId }: UnmergePlaceholderInput): Promise<Counts> {
    const { batches, merge } = await this.uow.read(realmId, async (reads) => {
      const found = await findMerge(reads, realmId, placeholderId);
      if (!found) throw notMerged(placeholderId);
      if (isErased(await getUser(reads, realmId, placeholderId))) {
        throw new DomainError('USER_ERASED', 'The user was erased.');
      }
      return { batches: await reads.importBatches.list(realmId), merge: found };
    });
    const userId = merge.targetId as UserId;
    const counts: Counts = { messages: 0, reactions: 0, directMessages: 0 };
    const revert = async (
      kind: ImportedKind,
      undo: (tx: Transaction, records: readonly ImportedRecord[]) => Promise<Partial<Counts>>,
    ) => {
      for (const batch of batches) {
        await eachPage(this.uow, batch, { kind, isDryRun: false, counts }, async (reads, page) => {
          const tx = reads as Transaction;
          const records = page.filter(({ hash }) => hash === String(placeholderId));
          await tx.importedRecords.remove(realmId, records);
          await extendHolds(tx, realmId, { from: userId, to: placeholderId });
          return undo(tx, records);
        });
      }
    };
    await revert('mergedMessage', async (tx, records) => {
      const messages = await tx.messages.list(realmId, targetsOf(records));
      const own = messages.filter(({ senderId }) => senderId === userId);
      await changeSenders(tx, own, userId, placeholderId);
      return { messages: own.length };
    });
    await revert('mergedReaction', async (tx, records) => {
      const messages = await tx.messages.list(realmId, [...new Set(targetsOf(records))]);
      const wanted = new Set(records.map(({ recordId }) => recordId));
      const reactions = (await reactionsToGive(tx, messages, userId, placeholderId)).filter(
        ({ messageId, type, code }) => wanted.has(recordIdOf(placeholderId, messageId, ` ${type} ${code}`)),
      );
      await giveReactions(tx, messages, reactions, placeholderId);
      return { reactions: reactions.length };
    });
    await revert('mergedDirectMessage', async (tx, records) => {
      const messages = await tx.messages.list(realmId, targetsOf(records));
      await moveDirect(tx, messages);
      return { directMessages: messages.length };
    });
    await revert('mergedSubscription', async (tx, records) => {
      const channels = await tx.channels.list(
        realmId,
        records.map(({ targetId }) => targetId as ChannelId),
      );
      await unsubscribeFromChannels(tx, channels, [userId]);
      return {};
    });
    await restartClients(this.uow, realmId, async (tx) => {
      const placeholder = await getUser(tx, realmId, placeholderId);
      await changeEmail(tx, placeholder, merge.hash);
      await tx.importedRecords.remove(realmId, [merge]);
    });
    return counts;
  }
}

const notMerged = (placeholderId: UserId): DomainError =>
  new DomainError('NOT_MERGED', `User ${placeholderId} is not merged.`);

async function getUser({ users }: Pick<Reads, 'users'>, realmId: RealmId, id: UserId): Promise<User> {
  const user = await users.find(realmId, id);
  if (!user) throw new DomainError('UNKNOWN_USER', `There is no user ${id}.`);
  return user;
}

async function findMerge(reads: Reads, realmId: RealmId, placeholderId: UserId): Promise<ImportedRecord | null> {
  const [merge] = await reads.importedRecords.list(realmId, 'merge', [String(placeholderId)]);
  return merge ?? null;
}

/** Checks the users. `merge`: record of an earlier run, which may be incomplete. */
async function loadMerge(
  reads: Reads,
  { realmId, placeholderId, userId }: MergePlaceholderInput,
): Promise<{ readonly placeholder: User; readonly merge: ImportedRecord | null }> {
  const placeholder = await getUser(reads, realmId, placeholderId);
  const user = await getUser(reads, realmId, userId);
  if (!user.isActive || user.bot) {
    throw new DomainError('NAMED_USER_DEACTIVATED', `User ${userId} is a bot or deactivated.`);
  }
  const merge = await findMerge(reads, realmId, placeholderId);
  if (merge?.targetId === userId) return { placeholder, merge };
  const batches = await reads.importBatches.list(realmId);
  if (merge || batches.length === 0 || !isPlaceholder(placeholder)) {
    throw new DomainError('NOT_A_PLACEHOLDER', `User ${placeholderId} is not a placeholder of an import.`);
  }
  return { placeholder, merge: null };
}

/** Returns the placeholder's active channels, except the user's channels and those that an earlier run added. */
async function gainedChannels(
  { channels, importedRecords }: Pick<Reads, 'channels' | 'importedRecords'>,
  { realmId, placeholderId, userId }: MergePlaceholderInput,
): Promise<readonly Channel[]> {
  const own = new Set<number>(await channels.listSubscribedIds(realmId, userId));
  const all = await channels.listSubscribedIds(realmId, placeholderId);
  const records = all.map((id) => recordIdOf(placeholderId, id));
  for (const { targetId } of await importedRecords.list(realmId, 'mergedSubscription', records)) own.add(targetId);
  const ids = all.filter((id) => !own.has(id));
  return (await channels.list(realmId, ids)).filter(({ isArchived }) => !isArchived);
}

interface LeftChannel {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  /** Current members in the source. */
  readonly members: readonly UserId[];
}

/**
 * Returns the users whom merges of these placeholders subscribed to the channel, unless they are members for another
 * reason, and forgets these subscriptions.
 */
export async function leaveMerged(
  { importedRecords }: Pick<Transaction, 'importedRecords'>,
  { realmId, channelId, members }: LeftChannel,
  placeholderIds: readonly UserId[],
): Promise<readonly UserId[]> {
  const mergesOf = (ids: readonly UserId[]) => importedRecords.list(realmId, 'merge', ids.map(String));
  const merges = await mergesOf(placeholderIds);
  if (merges.length === 0) return [];
  const staying = new Set<number>([...members, ...(await mergesOf(members)).map(({ targetId }) => targetId)]);
  const leaving = merges.filter(({ targetId }) => !staying.has(targetId));
  const users = new Map(leaving.map(({ recordId, targetId }) => [`${recordId} ${channelId}`, targetId as UserId]));
  const subscriptions = await importedRecords.list(realmId, 'mergedSubscription', [...users.keys()]);
  await importedRecords.remove(realmId, subscriptions);
  return subscriptions.map(({ recordId }) => getOrThrow(users, recordId));
}

interface Pages {
  readonly kind: ImportedKind;
  /** True to only read. */
  readonly isDryRun: boolean;
  /** Sums of what `use` returns. */
  readonly counts: Counts;
}

/** Runs `use` for every page of a batch's records, each in its own unit. */
async function eachPage(
  uow: UnitOfWork,
  { id, realmId }: ImportBatch,
  { kind, isDryRun, counts }: Pages,
  use: (reads: Reads, records: readonly ImportedRecord[]) => Promise<Partial<Counts>>,
): Promise<void> {
  let after = BEFORE_RECORDS;
  let page: readonly ImportedRecord[];
  do {
    const from = after;
    const run = async (reads: Reads) => {
      const records = await reads.importedRecords.listOfBatch(realmId, { id, kind }, from, MESSAGES_AT_A_TIME);
      return { records, done: await use(reads, records) };
    };
    const { records, done } = await (isDryRun ? uow.read(realmId, run) : uow.write(realmId, run, { yields: true }));
    counts.messages += done.messages ?? 0;
    counts.reactions += done.reactions ?? 0;
    counts.directMessages += done.directMessages ?? 0;
    page = records;
    after = page.at(-1) ?? after;
  } while (page.length === MESSAGES_AT_A_TIME);
}

const targetsOf = (records: readonly ImportedRecord[]) => records.map(({ targetId }) => targetId as MessageId);

const recordIdOf = (placeholderId: UserId, targetId: number, part = ''): string =>
  `${placeholderId} ${targetId}${part}`;

const changed = (
  { id: batchId }: { readonly id: ImportBatchId },
  kind: ImportedKind,
  placeholderId: UserId,
  targetId: number,
  part = '',
): ImportedRecord => ({
  ...{ batchId, kind, targetId, editedAt: null, reactions: 0 },
  recordId: recordIdOf(placeholderId, targetId, part),
  hash: String(placeholderId),
});

const changeSenders = async (tx: Transaction, messages: readonly Message[], from: UserId, to: UserId) => {
  const [first] = messages;
  if (!first) return;
  await tx.messages.changeSender(
    first.realmId,
    messages.map(({ id }) => id),
    from,
    to,
  );
};

interface DirectMessage {
  readonly message: Message;
  /** Participants of the conversation that the message was sent to. */
  readonly participants: readonly UserId[];
}

/** Omits channel messages. */
async function directOf({ recipients }: Pick<Reads, 'recipients'>, messages: readonly Message[]) {
  const direct = messages.filter(({ channelId }) => channelId === null);
  const [first] = direct;
  if (!first) return [];
  const ids = new Set(direct.map(({ sentRecipientId }) => sentRecipientId));
  const found = await recipients.list(first.realmId, [...ids]);
  return direct.flatMap((message): readonly DirectMessage[] => {
    const recipient = found.get(message.sentRecipientId);
    return recipient?.kind === 'direct' ? [{ message, participants: recipient.userIds }] : [];
  });
}

/** Returns those direct messages of the placeholder's conversations that no earlier run moved. */
async function stayingDirect(
  reads: Reads,
  messages: readonly Message[],
  placeholderId: UserId,
): Promise<readonly Message[]> {
  const direct = (await directOf(reads, messages)).filter(({ participants }) => participants.includes(placeholderId));
  const [first] = direct;
  if (!first) return [];
  const records = direct.map(({ message }) => recordIdOf(placeholderId, message.id));
  const moved = await reads.importedRecords.list(first.message.realmId, 'mergedDirectMessage', records);
  const movedIds = new Set<number>(moved.map(({ targetId }) => targetId));
  return direct.flatMap(({ message }) => (movedIds.has(message.id) ? [] : message));
}

/**
 * Moves direct messages to the conversations of the people they were sent to. Users take the places of placeholders with
 * a record for the message.
 */
async function moveDirect(tx: Transaction, messages: readonly Message[]): Promise<void> {
  const direct = await directOf(tx, messages);
  const [first] = direct;
  if (!first) return;
  const { realmId } = first.message;
  const people = new Set(direct.flatMap(({ participants }) => participants));
  const merges = await tx.importedRecords.list(realmId, 'merge', [...people].map(String));
  const users = new Map(merges.map(({ recordId, targetId }) => [Number(recordId) as UserId, targetId as UserId]));
  const possible = direct.flatMap(({ message, participants }) =>
    participants.flatMap((id) => (users.has(id) ? recordIdOf(id, message.id) : [])),
  );
  const records = await tx.importedRecords.list(realmId, 'mergedDirectMessage', possible);
  const merged = new Set(records.map(({ recordId }) => recordId));
  const moved = new Map<RecipientId, MessageId[]>();
  for (const { message, participants } of direct) {
    const present = participants.map((id) => (merged.has(recordIdOf(id, message.id)) ? getOrThrow(users, id) : id));
    const recipientId = await tx.recipients.openDirect(realmId, present);
    const ids = moved.get(recipientId);
    if (ids) ids.push(message.id);
    else moved.set(recipientId, [message.id]);
  }
  for (const [recipientId, ids] of moved) await tx.moves.moveDirect(realmId, ids, recipientId);
}
