import type { PermissionHolder } from '@parley/domain/access';
import { type ChannelRights, hasMetadataAccess } from '@parley/domain/channels';
import type { BlobStore } from '@parley/domain/files';
import {
  type ChannelId,
  type Clock,
  type Covered,
  type DataOwner,
  type ExportParts,
  getOrThrow,
  type JsonObject,
  lastOf,
  type MessageId,
  type PersonCopy,
  type Repositories,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { AuditFilter, StoredAuditEntry, StoredEntry } from '@parley/domain/membership';
import type { MessageFilter, MessageView, PersonalFlags } from '@parley/domain/messages';
import type { User } from '@parley/domain/users';
import type { UserReaction } from '@parley/domain/writing';
import { copyFile, listFiles, readBotStorage, readPicture } from './long-parts.js';
import type { FileCopy, PictureCopy } from './realm-copy.js';

export interface NamedUser {
  readonly id: UserId;
  readonly name: string;
}

/** Message as the person may read it. */
export interface PersonMessage {
  readonly id: MessageId;
  readonly sentAt: UnixSeconds;
  readonly client: string;
  /** Null for direct messages. Name and topic are null if the person may no longer see the channel. */
  readonly channel: { readonly id: ChannelId; readonly name: string | null; readonly topic: string | null } | null;
  /** Participants of the direct conversation; null in channels. */
  readonly participants: readonly NamedUser[] | null;
  readonly sender: NamedUser;
  /** Markdown. */
  readonly content: string;
  /** Earlier texts of the person's own message, newest first. */
  readonly earlierTexts: readonly { readonly replacedAt: UnixSeconds; readonly content: string }[];
  /** The person's answers to polls and to-do lists, as JSON. */
  readonly answers: readonly string[];
  /** Data of the host application; null if there is none. */
  readonly data: JsonObject | null;
  readonly flags: PersonalFlags;
}

/** Entry of the audit log about the person, by anybody. */
export interface PersonAuditEntry {
  readonly at: UnixSeconds;
  readonly action: string;
  /** True if the person acted. */
  readonly isOwn: boolean;
  /** Old and new values as JSON, without those of personal properties. */
  readonly changes: string;
  /** Address and program of the person as JSON; null if somebody else acted. */
  readonly details: string | null;
}

/** Vote or other answer to a poll or to-do list of any author. */
export interface PersonAnswer {
  readonly messageId: MessageId;
  /** JSON. */
  readonly content: string;
}

/** Everything stored about one person, without secrets. Long parts are read in batches. */
export interface PersonSource {
  readonly account: PersonAccount;
  /** Messages that the person wrote in channels, ascending. */
  channelMessages(): AsyncIterable<readonly PersonMessage[]>;
  /** All messages of the person's direct conversations, ascending. */
  directMessages(): AsyncIterable<readonly PersonMessage[]>;
  /** The person's reactions, by ascending message. */
  reactions(): AsyncIterable<readonly UserReaction[]>;
  /** The person's votes and other answers to polls and to-do lists, oldest first. */
  answers(): AsyncIterable<readonly PersonAnswer[]>;
  /** Newest first. */
  auditEntries(): AsyncIterable<readonly PersonAuditEntry[]>;
  /** Files that the person uploaded. */
  files(): AsyncIterable<FileCopy>;
  /** Null if the person uploaded none. */
  avatar(): Promise<PictureCopy<UserId> | null>;
}

export type PersonAccount = Awaited<ReturnType<typeof readAccount>> & {
  /** Empty for humans. */
  readonly botStorage: readonly StoredEntry[];
};

/** Takes about two milliseconds. */
const MESSAGES_AT_A_TIME = 50;
const ANSWERS_AT_A_TIME = 500;
const AUDIT_ENTRIES_AT_A_TIME = 500;

/** Reads a person's data for a copy that the person may receive. */
export class PersonReader {
  static readonly inject = ['unitOfWork', 'blobStore', 'exportParts', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly parts: ExportParts,
    private readonly clock: Clock,
  ) {}

  /** Reads each batch in its own transaction, so that they reflect different times. @throws DomainError UNKNOWN_USER */
  async open(owner: DataOwner): Promise<PersonSource> {
    const { uow, blobs } = this;
    const { realmId, userId } = owner;
    const exportedAt = this.clock.now();
    const read = await uow.read(realmId, (reads) => readAccount(reads, owner, this.parts, exportedAt));
    const account = { ...read, botStorage: await readBotStorage(uow, owner) };
    const writtenInChannels: MessageFilter = {
      conditions: [
        { kind: 'sender', userId },
        {
          kind: 'channelPrivacy',
          privacies: ['public', 'webPublic', 'privateSharedHistory', 'privateProtectedHistory'],
        },
      ],
      // Includes channels to which the person never subscribed.
      scope: 'shared',
    };
    return {
      account,
      channelMessages: () => this.readMessages(owner, writtenInChannels),
      directMessages: () => this.readMessages(owner, { conditions: [{ kind: 'direct' }], scope: 'own' }),
      reactions: () => this.readReactions(owner),
      answers: () => this.readAnswers(owner),
      auditEntries: () => this.readAuditEntries(owner),
      files: async function* () {
        for await (const page of listFiles(uow, owner)) {
          for (const file of page) yield await copyFile(blobs, file, file.messageIds);
        }
      },
      async avatar() {
        const { avatar } = await uow.read(realmId, ({ users }) => users.get(realmId, userId));
        if (avatar.source !== 'uploaded') return null;
        const names = [`avatar/${avatar.key}/medium`, `avatar/${avatar.key}`] as const;
        return readPicture(uow, blobs, { realmId, of: userId, names });
      },
    };
  }

  private readMessages(owner: DataOwner, filter: MessageFilter): AsyncGenerator<readonly PersonMessage[]> {
    return this.readPages(owner, filter, async (reads, flags) => {
      const sees = await loadVisibility(reads, owner);
      const views = await reads.pages.listViews(owner.realmId, [...flags.keys()]);
      const channelIds = views.flatMap(({ message }) => message.channelId ?? []);
      const channels = await reads.channels.list(owner.realmId, [...new Set(channelIds)]);
      const visible = new Set(channels.filter(sees).map(({ id }) => id));
      return views.map((view) => messageOf(view, owner.userId, getOrThrow(flags, view.message.id), visible));
    });
  }

  private readReactions(owner: DataOwner): AsyncGenerator<readonly UserReaction[]> {
    const { realmId, userId } = owner;
    const withReactions: MessageFilter = { conditions: [{ kind: 'property', property: 'hasReactions' }], scope: 'own' };
    return this.readPages(owner, withReactions, ({ reactions }, flags) =>
      reactions.listOfUser(realmId, [...flags.keys()], userId),
    );
  }

  private async *readAuditEntries({ realmId, userId }: DataOwner): AsyncGenerator<readonly PersonAuditEntry[]> {
    for (let before: number | undefined; ; ) {
      const filter: AuditFilter = { subjectId: userId, ...(before !== undefined && { before }) };
      const page = await this.uow.read(realmId, ({ audit }) => audit.list(realmId, filter, AUDIT_ENTRIES_AT_A_TIME));
      if (page.length > 0) yield page.map((entry) => presentAuditEntry(entry, userId));
      if (page.length < AUDIT_ENTRIES_AT_A_TIME) return;
      before = lastOf(page).number;
    }
  }

  private async *readAnswers({ realmId, userId }: DataOwner): AsyncGenerator<readonly PersonAnswer[]> {
    for (let after = 0; ; ) {
      const from: number = after;
      const page = await this.uow.read(realmId, ({ messages }) =>
        messages.listSubmessagesOf(realmId, userId, from, ANSWERS_AT_A_TIME),
      );
      if (page.length > 0) yield page.map(({ messageId, content }) => ({ messageId, content }));
      if (page.length < ANSWERS_AT_A_TIME) return;
      after = lastOf(page).id;
    }
  }

  /** `read` receives the flags by message. */
  private async *readPages<T>(
    owner: DataOwner,
    filter: MessageFilter,
    read: (reads: Repositories, flags: ReadonlyMap<MessageId, PersonalFlags>) => Promise<readonly T[]>,
  ): AsyncGenerator<readonly T[]> {
    for (let from: number | null = 1; from !== null; ) {
      const first: number = from;
      const { items, next } = await this.uow.read(owner.realmId, async (reads) => {
        const page = await reads.pages.listEntriesFrom(owner, filter, first, MESSAGES_AT_A_TIME);
        const last = page.length < MESSAGES_AT_A_TIME ? null : lastOf(page).id;
        const flags = new Map(page.map((entry) => [entry.id, entry.flags]));
        return { items: await read(reads, flags), next: last === null ? null : last + 1 };
      });
      if (items.length > 0) yield items;
      from = next;
    }
  }
}

/** Returns whether the person may see a channel's name and topics now. */
async function loadVisibility(
  { actors, users, channels }: Repositories,
  { realmId, userId }: DataOwner,
): Promise<(channel: ChannelRights & { readonly id: ChannelId }) => boolean> {
  const { role } = await users.get(realmId, userId);
  const holder: PermissionHolder = (await actors.list(realmId, [userId])).get(userId) ?? { role, groups: new Set() };
  const subscribed = new Set(await channels.listSubscribedIds(realmId, userId));
  return (channel) => hasMetadataAccess(holder, channel, subscribed.has(channel.id));
}

function messageOf(
  { message, sender, conversation, edits = [], submessages, hostData }: MessageView,
  userId: UserId,
  flags: PersonalFlags,
  visible: ReadonlySet<ChannelId>,
): PersonMessage {
  const isVisible = message.channelId !== null && visible.has(message.channelId);
  const isOwn = sender.id === userId;
  return {
    id: message.id,
    sentAt: message.sentAt,
    client: message.clientName,
    channel:
      conversation.kind === 'channel'
        ? {
            id: conversation.channelId,
            name: isVisible ? conversation.name : null,
            topic: isVisible ? message.topic : null,
          }
        : null,
    participants: conversation.kind === 'direct' ? conversation.participants.map(named) : null,
    sender: named(sender),
    content: message.content,
    earlierTexts: edits.flatMap(({ editedAt, previousContent }) =>
      isOwn && previousContent ? { replacedAt: editedAt, content: previousContent.content } : [],
    ),
    answers: submessages.filter(({ senderId }) => senderId === userId).map(({ content }) => content),
    data: hostData?.data ?? null,
    flags,
  };
}

const named = ({ id, fullName }: Pick<User, 'id' | 'fullName'>): NamedUser => ({ id, name: fullName });

function presentAuditEntry(
  { at, action, actorId, changes, detail }: StoredAuditEntry,
  userId: UserId,
): PersonAuditEntry {
  const isOwn = actorId === userId;
  return { at, action, isOwn, changes, details: isOwn && detail ? detail.content : null };
}

async function readAccount(reads: Repositories, owner: DataOwner, parts: ExportParts, exportedAt: UnixSeconds) {
  const { realmId, userId } = owner;
  const { realmId: _, version: __, avatar, ...user } = await reads.users.get(realmId, userId);
  const realm = await reads.realms.get(realmId);
  const groups = await reads.groups.list(realmId, await reads.groups.listDirectIds(realmId, userId));
  const channels = await reads.channels.listAll(realmId);
  const userIds = new Set((await reads.users.listEntries(realmId)).map(({ id }) => id));
  const channelIds = new Set(channels.map(({ id }) => id));
  const covered: Covered = { userIds, channelIds, once: (repositories, load) => load(repositories, realmId) };
  const subscriptions = await reads.channels.listSubscriptions(realmId, userId);
  return {
    exportedAt,
    organization: { name: realm.name, stringId: realm.stringId },
    user: { ...user, avatar: avatar.source },
    groups: groups.flatMap(({ name }) => name ?? []),
    bots: (await reads.users.list(realmId, await reads.users.listBotIds(realmId)))
      .filter(({ bot }) => bot?.ownerId === userId)
      .map(({ id, fullName, email, isActive }) => ({ id, fullName, email, isActive })),
    logIns: await readLogIns(reads, owner),
    invitations: (await reads.invitations.listOpen(realmId, exportedAt, userId)).map(
      ({ kind, email, role, invitedAt, expiresAt }) => ({ kind, email, role, invitedAt, expiresAt }),
    ),
    personal: { subscriptions, ...(await readParts(reads, owner, parts, covered)) },
    /** Names of ids in `personal`. */
    channels: channels.filter(await loadVisibility(reads, owner)).map(({ id, name }) => ({ id, name })),
    profileFields: (await reads.profileFields.list(realmId)).map(({ id, name }) => ({ id, name })),
  };
}

/** Reads how the person logs in, omitting hashes, keys and tokens. */
async function readLogIns(reads: Repositories, { realmId, userId }: DataOwner) {
  const { app, passkeys, recoveryCodes } = await reads.secondFactors.find(realmId, userId);
  return {
    hasPassword: (await reads.users.findPasswordHash(realmId, userId)) !== null,
    hasAuthenticatorApp: app !== null,
    passkeys: passkeys.map(({ name, createdAt }) => ({ name, createdAt })),
    recoveryCodes,
    accountsAtServices: (await reads.logIns.listLinked(realmId, userId)).map(({ method, subject, linkedAt }) => ({
      method,
      subject,
      linkedAt,
    })),
    sessions: (await reads.sessions.listOf(realmId, userId)).map(
      ({ userAgent, ip, method, createdAt, lastUsedAt, expiresAt }) => ({
        userAgent,
        ip,
        method,
        createdAt,
        lastUsedAt,
        expiresAt,
      }),
    ),
    apiKeyIssued: await reads.apiKeys.findIssue(realmId, userId),
    knownNetworks: (await reads.sessions.listNetworks(realmId, userId)).map(({ lastUsedAt }) => ({ lastUsedAt })),
    devices: (await reads.devices.list(realmId, userId)).map(({ id, tokenKind, tokenUpdatedAt }) => ({
      id,
      tokenKind,
      tokenUpdatedAt,
    })),
    phones: (await reads.pushTokens.list(realmId, userId)).map(({ kind, iosAppId }) => ({ kind, iosAppId })),
    /** Hosts of the push services; the rest of the address is a secret. */
    browsers: (await reads.webPush.list(realmId, [userId])).map(({ endpoint }) => endpoint.split('/')[2] ?? ''),
  };
}

/** Reads what features export about a person, such as drafts and reminders. */
async function readParts(reads: Repositories, owner: DataOwner, parts: ExportParts, covered: Covered) {
  const read: Partial<PersonCopy>[] = [];
  for (const part of parts.people) read.push(await part.read(reads, owner, covered));
  return Object.assign({}, ...read) as Omit<PersonCopy, 'userId' | 'subscriptions' | 'botStorage'>;
}
