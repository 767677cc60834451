import type { BlobStore } from '@parley/domain/files';
import {
  type ChannelId,
  type Clock,
  decodeJob,
  type FileId,
  type HoldId,
  type MessageId,
  type RealmId,
  type RecipientId,
  type Repositories,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { ERASE_PERSON_JOB } from '@parley/domain/membership';
import { type HeldMessage, type HeldPage, type Hold, requireActiveHold } from '@parley/domain/writing';
import { copyFile } from './long-parts.js';
import type { FileCopy } from './realm-copy.js';

/** Present identity of a person, or the former one while the person's erasure waits for the hold. */
export interface HeldPerson {
  readonly id: UserId;
  readonly name: string;
  readonly email: string;
}

interface HeldPlace {
  readonly id: ChannelId;
  readonly name: string;
  readonly topic: string;
}

/** Held message with everything that is kept of it. */
export interface HeldRecord {
  readonly id: MessageId;
  readonly sentAt: UnixSeconds;
  readonly sender: HeldPerson;
  /** Null for direct messages. */
  readonly channel: HeldPlace | null;
  /** Participants of the direct conversation; null in channels. */
  readonly participants: readonly HeldPerson[] | null;
  /** Markdown. */
  readonly content: string;
  readonly html: string;
  /** Newest first. */
  readonly edits: readonly {
    readonly editedAt: UnixSeconds;
    readonly by: HeldPerson;
    /** Markdown; null if the text did not change. */
    readonly previousContent: string | null;
    readonly previousTopic: string | null;
    readonly previousChannelId: ChannelId | null;
  }[];
  /** Null unless the message is deleted. `by`: null if it expired. */
  readonly deleted: { readonly at: UnixSeconds; readonly by: HeldPerson | null } | null;
  /** Files to which the message links or linked. */
  readonly fileIds: readonly FileId[];
}

/** Everything that a hold keeps. */
export interface HeldSource {
  readonly hold: Hold;
  readonly organization: { readonly name: string; readonly stringId: string; readonly uuid: string };
  readonly exportedAt: UnixSeconds;
  /** Messages, then deleted ones, each ascending, in batches. */
  messages(): AsyncIterable<readonly HeldRecord[]>;
  /** Yields a file that a message names, or null if it is missing. */
  file(id: FileId, messageIds: readonly MessageId[]): Promise<FileCopy | null>;
}

const MESSAGES_AT_A_TIME = 100;
/** Maximum number of former identities of erased people. */
const MAX_ERASURES = 1000;

/** Reads what a hold keeps, on behalf of the operator. */
export class HeldReader {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  /** Reads each batch in its own transaction. @throws DomainError UNKNOWN_HOLD, HOLD_RELEASED */
  async open(realmId: RealmId, holdId: HoldId): Promise<HeldSource> {
    const { uow, blobs } = this;
    const { hold, organization } = await uow.read(realmId, async (reads) => {
      const { name, stringId, uuid } = await reads.realms.get(realmId);
      return { hold: await requireActiveHold(reads, realmId, holdId), organization: { name, stringId, uuid } };
    });
    const readPages = this.readPages.bind(this);
    return {
      hold,
      organization,
      exportedAt: this.clock.now(),
      async *messages() {
        yield* readPages(hold, ({ heldMessages }, after) => heldMessages.list(hold, after, MESSAGES_AT_A_TIME));
        yield* readPages(hold, ({ heldMessages }, after) => heldMessages.listCopies(hold, after, MESSAGES_AT_A_TIME));
      },
      async file(id, messageIds) {
        const [file] = await uow.read(realmId, ({ files }) => files.listAttached(realmId, [id]));
        return file ? copyFile(blobs, file, messageIds) : null;
      },
    };
  }

  private async *readPages(
    { realmId }: Hold,
    read: (reads: Repositories, after: number) => Promise<HeldPage>,
  ): AsyncGenerator<readonly HeldRecord[]> {
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after;
      const { records, next } = await this.uow.read(realmId, async (reads) => {
        const page = await read(reads, from);
        return { records: await recordsOf(reads, realmId, page.held), next: page.next };
      });
      if (records.length > 0) yield records;
      after = next;
    }
  }
}

async function recordsOf(
  reads: Repositories,
  realmId: RealmId,
  held: readonly HeldMessage[],
): Promise<readonly HeldRecord[]> {
  if (held.length === 0) return [];
  const recipients = await reads.recipients.list(
    realmId,
    held.map(({ recipientId }) => recipientId),
  );
  const participantsOf = (id: RecipientId): readonly UserId[] => {
    const recipient = recipients.get(id);
    return recipient?.kind === 'direct' ? recipient.userIds : [];
  };
  const userIds = held.flatMap(({ senderId, recipientId, edits, deletion }) => [
    senderId,
    ...participantsOf(recipientId),
    ...edits.map(({ userId }) => userId),
    ...(deletion?.deletedBy ? [deletion.deletedBy] : []),
  ]);
  const people = await peopleOf(reads, realmId, [...new Set(userIds)]);
  const person = (id: UserId): HeldPerson => people.get(id) ?? { id, name: '', email: '' };
  const channelIds = [...new Set(held.flatMap(({ channelId }) => channelId ?? []))];
  const channels = new Map((await reads.channels.list(realmId, channelIds)).map(({ id, name }) => [id, name]));
  const files = await reads.heldMessages.listFiles(
    realmId,
    held.map(({ id }) => id),
  );
  return held.map(({ id, channelId, topic, deletion, ...message }) => ({
    id,
    sentAt: message.sentAt,
    sender: person(message.senderId),
    channel: channelId === null ? null : { id: channelId, name: channels.get(channelId) ?? '', topic },
    participants: channelId === null ? participantsOf(message.recipientId).map(person) : null,
    content: message.content,
    html: message.renderedContent,
    edits: message.edits.map(({ editedAt, userId, previousContent, topic: moved, channel }) => ({
      editedAt,
      by: person(userId),
      previousContent: previousContent?.content ?? null,
      previousTopic: moved?.from ?? null,
      previousChannelId: channel?.from ?? null,
    })),
    deleted: deletion && {
      at: deletion.deletedAt,
      by: deletion.deletedBy === null ? null : person(deletion.deletedBy),
    },
    fileIds: files.get(id) ?? [],
  }));
}

/** Returns people by id. A waiting erasure is the last place that has the former identity. */
async function peopleOf(
  { users, jobs }: Repositories,
  realmId: RealmId,
  ids: readonly UserId[],
): Promise<ReadonlyMap<UserId, HeldPerson>> {
  const { name: kind, format: maxFormat } = ERASE_PERSON_JOB;
  const waiting = await jobs.listDue({ kind, maxFormat }, Number.MAX_SAFE_INTEGER, MAX_ERASURES);
  const former = waiting
    .filter((job) => job.realmId === realmId)
    .map((job) => decodeJob(ERASE_PERSON_JOB, job).payload.former);
  return new Map([
    ...(await users.list(realmId, ids)).map(({ id, fullName, email }) => [id, { id, name: fullName, email }] as const),
    ...former.map(({ id, fullName, email }) => [id, { id, name: fullName, email }] as const),
  ]);
}
