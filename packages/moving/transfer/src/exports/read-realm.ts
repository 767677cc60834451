import type { BlobStore, PictureName } from '@parley/domain/files';
import {
  type ChannelId,
  type Covered,
  type DataOwner,
  type ExportParts,
  getOrThrow,
  lastOf,
  type MessageId,
  type PersonCopy,
  type RealmCopy,
  type RealmId,
  type RecipientId,
  type Repositories,
  slicesOf,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import { type BotOptions, NO_BOT_OPTIONS } from '@parley/domain/membership';
import type { MessageEdit, MessageView } from '@parley/domain/messages';
import { mapChannelSettings, REALM_IMAGE_NAMES, type RealmSettings, type UserSettings } from '@parley/domain/realms';
import { canSeeEmail, dummyAddress, SYSTEM_BOTS, type SystemBotKind, type User } from '@parley/domain/users';
import { copyFile, listFiles, readBotStorage, readPicture } from './long-parts.js';
import {
  type ConversationCopy,
  type ExportScope,
  type FileCopy,
  type GroupCopy,
  type HolderCopy,
  isChannelCovered,
  isPersonCovered,
  type MessageCopy,
  type PictureCopy,
  type RealmSource,
  type UserCopy,
} from './realm-copy.js';

/**
 * Number of messages of any realm read per batch, which takes about a millisecond, so that other requests are not
 * delayed.
 */
const MESSAGES_AT_A_TIME = 25;
const PEOPLE_AT_A_TIME = 50;
const ENTRIES_AT_A_TIME = 1000;

/** Reads organizations for exports. */
export class RealmReader {
  static readonly inject = ['unitOfWork', 'blobStore', 'exportParts'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly parts: ExportParts,
  ) {}

  /**
   * Opens an organization for export. Each part is read in its own transactions, so that long parts do not block other
   * users; the parts therefore reflect different points in time. @throws DomainError UNKNOWN_REALM
   */
  async open(realmId: RealmId, scope: ExportScope): Promise<RealmSource> {
    const subscribers = await this.uow.read(realmId, async ({ channels }) => {
      const all = await channels.listAll(realmId);
      return channels.listSubscribers(
        realmId,
        all.map(({ id }) => id),
      );
    });
    const realm = await this.uow.read(realmId, (reads) => this.readRealm(reads, realmId, scope, subscribers));
    const loaded = new Map<unknown, Promise<unknown>>();
    const covered: CoveredScope = {
      scope,
      once<T>(reads: Repositories, load: (reads: Repositories, realmId: RealmId) => Promise<T>) {
        const loading = loaded.get(load) ?? load(reads, realmId);
        loaded.set(load, loading);
        return loading as Promise<T>;
      },
      userIds: new Set(realm.users.map(({ user }) => user.id)),
      channelIds: new Set(realm.channels.map(({ id }) => id)),
      recipientIds: new Set([
        ...realm.channels.map(({ recipientId }) => recipientId),
        ...realm.conversations.map(({ recipientId }) => recipientId),
      ]),
    };
    const userIds = realm.users.filter(({ systemKind }) => systemKind === null).map(({ user }) => user.id);
    return {
      realm,
      people: () => this.readPeople(realmId, userIds, covered),
      messages: () => this.readMessages(realmId, userIds, covered),
      files: () => this.readFiles(realmId, userIds, covered),
      avatars: () =>
        this.readPictures(
          realmId,
          realm.users.flatMap(({ user: { id, avatar } }) =>
            avatar.source === 'uploaded'
              ? { of: id, names: [`avatar/${avatar.key}/medium` as const, `avatar/${avatar.key}` as const] }
              : [],
          ),
        ),
      realmImages: () =>
        this.readPictures(
          realmId,
          REALM_IMAGE_NAMES.filter((name) => realm.realm.images[name].isUploaded).map((of) => ({ of, names: [of] })),
        ),
      emojiPictures: () =>
        this.readPictures(
          realmId,
          realm.customEmoji.map(({ id }) => ({ of: id, names: [`emoji/${id}`] })),
        ),
    };
  }

  private async readRealm(
    reads: Repositories,
    realmId: RealmId,
    scope: ExportScope,
    subscribers: ReadonlyMap<ChannelId, readonly UserId[]>,
  ): Promise<RealmCopy> {
    const { isDeactivated: _, isAtServerAddress: __, linkifiers: ___, ...realm } = await reads.realms.get(realmId);
    const channels = (await reads.channels.listAll(realmId)).filter((channel) =>
      isChannelCovered(channel, scope, subscribers.get(channel.id) ?? []),
    );
    const channelIds = new Set(channels.map(({ id }) => id));
    const users = await readUsers(reads, realmId, realm.userDefaults, scope, channelIds);
    const userIds = new Set(users.map(({ user }) => user.id));
    const read = [];
    for (const part of this.parts.realm) read.push(await part.read(reads, { realmId }, { channelIds, userIds }));
    return Object.assign(
      {
        realm: { ...realm, settings: withExportedChannels(realm.settings, channelIds) },
        customEmoji: (await reads.customEmoji.list(realmId)).map(({ realmId: _, ...emoji }) => ({
          ...emoji,
          fileName: `${emoji.id}.${emoji.format}`,
        })),
        groups: await readGroups(reads, realmId),
        users,
        channels,
        conversations: await readConversations(reads, realmId, scope),
      },
      ...read,
    );
  }

  private async *readPeople(
    realmId: RealmId,
    userIds: readonly UserId[],
    covered: CoveredScope,
  ): AsyncGenerator<PersonCopy> {
    for (const ids of slicesOf(userIds, PEOPLE_AT_A_TIME)) {
      const people = await this.uow.read(realmId, async (reads) => {
        const copies: Omit<PersonCopy, 'botStorage'>[] = [];
        for (const userId of ids) {
          copies.push(await this.readPerson(reads, { realmId, userId }, covered));
        }
        return copies;
      });
      for (const person of people) {
        const isCovered = isPersonCovered(person.userId, covered.scope);
        yield {
          ...person,
          botStorage: isCovered ? await readBotStorage(this.uow, { realmId, userId: person.userId }) : [],
        };
      }
    }
  }

  private async readPerson(
    reads: Repositories,
    owner: DataOwner,
    covered: CoveredScope,
  ): Promise<Omit<PersonCopy, 'botStorage'>> {
    const { realmId, userId } = owner;
    const subscriptions = await reads.channels.listSubscriptions(realmId, userId);
    const isCovered = isPersonCovered(userId, covered.scope);
    const read = [];
    for (const part of this.parts.people) {
      read.push(isCovered || part.isPublic ? await part.read(reads, owner, covered) : part.none);
    }
    return Object.assign(
      { userId, subscriptions: subscriptions.filter(({ channelId }) => covered.channelIds.has(channelId)) },
      ...read,
    );
  }

  private async *readMessages(
    realmId: RealmId,
    userIds: readonly UserId[],
    covered: CoveredScope,
  ): AsyncGenerator<readonly MessageCopy[]> {
    const receivers = await this.receiversByRecipient(realmId, userIds, covered.scope);
    for (let after: MessageId | null = 0 as MessageId; after !== null; ) {
      const from: MessageId = after;
      const { copies, reached }: Page = await this.uow.read(realmId, async (reads) => {
        const page = await reads.copies.listMessageIds(realmId, from, MESSAGES_AT_A_TIME);
        const views = await reads.pages.listViews(realmId, page.ids);
        const shown = views.filter(
          ({ message }) => covered.recipientIds.has(message.recipientId) && covered.userIds.has(message.senderId),
        );
        const holders = await readHolders(reads, realmId, shown, receivers, covered);
        return { reached: page.reached, copies: shown.map((view) => copyOf(view, holders, covered)) };
      });
      if (copies.length > 0) yield copies;
      after = reached;
    }
  }

  /** Maps each recipient to the users who were ever subscribed to the channel or who take part in the conversation. */
  private async receiversByRecipient(
    realmId: RealmId,
    userIds: readonly UserId[],
    scope: ExportScope,
  ): Promise<ReadonlyMap<RecipientId, readonly UserId[]>> {
    const receivers = new Map<RecipientId, UserId[]>();
    const covered = userIds.filter((userId) => isPersonCovered(userId, scope));
    for (const ids of slicesOf(covered, PEOPLE_AT_A_TIME)) {
      await this.uow.read(realmId, async (reads) => {
        for (const userId of ids) {
          for (const recipientId of await reads.copies.listReceivedRecipients({ realmId, userId })) {
            const existing = receivers.get(recipientId);
            if (existing) existing.push(userId);
            else receivers.set(recipientId, [userId]);
          }
        }
      });
    }
    return receivers;
  }

  private async *readFiles(
    realmId: RealmId,
    userIds: readonly UserId[],
    covered: CoveredScope,
  ): AsyncGenerator<FileCopy> {
    for (const ownerId of userIds) {
      for await (const page of listFiles(this.uow, { realmId, userId: ownerId })) {
        const messageIds = [...new Set(page.flatMap((file) => file.messageIds))];
        const messages = await this.uow.read(realmId, (reads) => reads.messages.list(realmId, messageIds));
        const shown = new Set(messages.filter((it) => covered.recipientIds.has(it.recipientId)).map(({ id }) => id));
        for (const file of page) {
          const shownIds = file.messageIds.filter((id) => shown.has(id));
          if (shownIds.length === 0 && !isPersonCovered(ownerId, covered.scope)) continue;
          yield await copyFile(this.blobs, file, shownIds);
        }
      }
    }
  }

  /** Reads the first available picture of each owner. Pictures are public and part of every export. */
  private async *readPictures<Of>(
    realmId: RealmId,
    shown: readonly { readonly of: Of; readonly names: readonly PictureName[] }[],
  ): AsyncGenerator<PictureCopy<Of>> {
    for (const { of, names } of shown) {
      yield await readPicture(this.uow, this.blobs, { realmId, of, names });
    }
  }
}

interface Page {
  readonly copies: readonly MessageCopy[];
  readonly reached: MessageId | null;
}

interface CoveredScope extends Covered {
  readonly scope: ExportScope;
  readonly recipientIds: ReadonlySet<RecipientId>;
}

/** Clears settings that refer to a channel outside the export. */
const withExportedChannels = (settings: RealmSettings, channelIds: ReadonlySet<number>): RealmSettings =>
  mapChannelSettings(settings, (id) => (channelIds.has(id) ? id : null));

async function readGroups(reads: Repositories, realmId: RealmId): Promise<readonly GroupCopy[]> {
  const named = (await reads.groups.listNamed(realmId)).map(({ id }) => id);
  const groups = await reads.groups.list(realmId, [...named, ...(await reads.groups.listAnonymousIds(realmId))]);
  const copies: GroupCopy[] = [];
  for (const group of groups) {
    const memberIds = await reads.groups.listDirectMembers(realmId, group.id);
    copies.push({ ...group, memberIds, subgroupIds: await reads.groups.listSubgroupIds(realmId, group.id) });
  }
  return copies;
}

async function readUsers(
  reads: Repositories,
  realmId: RealmId,
  defaults: UserSettings,
  scope: ExportScope,
  channelIds: ReadonlySet<ChannelId>,
): Promise<readonly UserCopy[]> {
  const kinds = new Map<UserId, SystemBotKind>();
  for (const { kind } of SYSTEM_BOTS) kinds.set((await reads.users.findSystemBot(realmId, kind)).id, kind);
  const ids = [...kinds.keys(), ...(await reads.users.listEntries(realmId)).map(({ id }) => id)].sort((a, b) => a - b);
  const copies: UserCopy[] = [];
  const options = await reads.bots.listOptions(realmId, ids);
  for (const user of await reads.users.list(realmId, ids)) {
    const isCovered = isPersonCovered(user.id, scope) || kinds.has(user.id);
    const botOptions = getOrThrow(options, user.id);
    copies.push({
      user: withExportedChannel(isCovered ? user : publicPart(user, defaults), channelIds),
      systemKind: kinds.get(user.id) ?? null,
      botOptions: isCovered && hasOptions(botOptions) ? withExportedEvents(botOptions, channelIds) : null,
    });
  }
  return copies;
}

const hasOptions = (options: BotOptions): boolean =>
  options.webhook !== null ||
  options.eventsChannelId !== NO_BOT_OPTIONS.eventsChannelId ||
  options.allPublicChannels !== NO_BOT_OPTIONS.allPublicChannels;

/** User properties visible to administrators; excludes preferences and a hidden email address. */
function publicPart(user: User, defaults: UserSettings): User {
  const { emailAddressVisibility, presenceEnabled } = user.settings;
  const settings = { ...defaults, emailAddressVisibility, presenceEnabled };
  const isAddressKnown = canSeeEmail({ id: 0 as UserId, role: 'administrator' }, user);
  const email = isAddressKnown ? user.email : dummyAddress(user.id, 'parley.invalid');
  return { ...user, email, settings, editedSettings: [] };
}

function withExportedChannel(user: User, channelIds: ReadonlySet<number>): User {
  const channelId = user.bot?.defaultSendingChannelId ?? null;
  if (!user.bot || channelId === null || channelIds.has(channelId)) return user;
  return { ...user, bot: { ...user.bot, defaultSendingChannelId: null } };
}

const withExportedEvents = (options: BotOptions, channelIds: ReadonlySet<ChannelId>): BotOptions =>
  options.eventsChannelId === null || channelIds.has(options.eventsChannelId)
    ? options
    : { ...options, eventsChannelId: null };

async function readConversations(
  reads: Repositories,
  realmId: RealmId,
  { covers }: ExportScope,
): Promise<readonly ConversationCopy[]> {
  const conversations: ConversationCopy[] = [];
  for (let after = 0; ; ) {
    const ids = await reads.recipients.listDirect(realmId, after, ENTRIES_AT_A_TIME);
    for (const [recipientId, recipient] of await reads.recipients.list(realmId, ids)) {
      if (recipient.kind !== 'direct') continue;
      const isCovered = covers === 'all' || recipient.userIds.some((userId) => covers.has(userId));
      if (isCovered) conversations.push({ recipientId, userIds: recipient.userIds });
    }
    if (ids.length < ENTRIES_AT_A_TIME) break;
    after = lastOf(ids);
  }
  return conversations.sort((a, b) => a.recipientId - b.recipientId);
}

async function readHolders(
  reads: Repositories,
  realmId: RealmId,
  views: readonly MessageView[],
  receivers: ReadonlyMap<RecipientId, readonly UserId[]>,
  { scope, userIds: loading }: CoveredScope,
): Promise<ReadonlyMap<MessageId, readonly HolderCopy[]>> {
  const holders = new Map<MessageId, HolderCopy[]>(views.map(({ message }) => [message.id, []]));
  const flagging = await reads.copies.listFlagging(realmId, [...holders.keys()]);
  const idsByRecipients = new Map<string, { readonly userIds: Set<UserId>; readonly ids: MessageId[] }>();
  for (const { message } of views) {
    const { id, sentRecipientId, recipientId } = message;
    const key = `${sentRecipientId} ${recipientId}`;
    let group = idsByRecipients.get(key);
    if (!group) {
      group = {
        userIds: new Set([...(receivers.get(sentRecipientId) ?? []), ...(receivers.get(recipientId) ?? [])]),
        ids: [],
      };
      idsByRecipients.set(key, group);
    }
    group.ids.push(id);
    for (const userId of flagging.get(id) ?? []) {
      if (loading.has(userId) && isPersonCovered(userId, scope)) group.userIds.add(userId);
    }
  }
  for (const { userIds, ids } of idsByRecipients.values()) {
    for (const [userId, own] of await reads.personal.listFlagsOf(realmId, [...userIds], ids)) {
      for (const [messageId, flags] of own) getOrThrow(holders, messageId).push({ userId, flags });
    }
  }
  return holders;
}

function copyOf(
  { message, edits = [], reactions = [], submessages, hostData }: MessageView,
  holders: ReadonlyMap<MessageId, readonly HolderCopy[]>,
  { channelIds, userIds }: CoveredScope,
): MessageCopy {
  const { realmId: _, sentRecipientId: __, ordinal: ___, version: ____, ...shown } = message;
  const { hasReactions: _____, hasData: ______, ...copied } = shown;
  return {
    message: copied,
    edits: edits.filter(({ userId }) => userIds.has(userId)).map((edit) => withExportedMove(edit, channelIds)),
    reactions: reactions
      .filter(({ userId }) => userIds.has(userId))
      .map(({ userId, type, code, name }) => ({ userId, type, code, name })),
    submessages: submessages
      .filter(({ senderId }) => userIds.has(senderId))
      .map(({ senderId, kind, content }) => ({ senderId, kind, content })),
    ...(hostData && { hostData }),
    holders: holders.get(message.id) ?? [],
  };
}

/** Omits the origin of a message moved from a channel outside the export. */
const withExportedMove = (edit: MessageEdit, channelIds: ReadonlySet<ChannelId>): MessageEdit =>
  edit.channel === null || (channelIds.has(edit.channel.from) && channelIds.has(edit.channel.to))
    ? edit
    : { ...edit, channel: null };
