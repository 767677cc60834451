import { AVATAR_TARGETS, nameAvatar } from '../../avatars/change-avatar.js';
import type { BotOptions } from '../../bots/bot-options.js';
import { REALM_IMAGE_TARGETS } from '../../branding/realm-image-targets.js';
import type { ApiKeyMint } from '../../credentials/api-keys.js';
import { emojiTargets, MAX_CUSTOM_EMOJI } from '../../custom-emoji/custom-emoji.js';
import { newBlobKey } from '../../files/blob-receiver.js';
import type { BlobKey, BlobStore } from '../../files/blob-store.js';
import type { FileImage } from '../../files/file.js';
import { scheduleThumbnails, type Thumbnails } from '../../files/thumbnails.js';
import type { ImageProcessor } from '../../images/image-processor.js';
import type { PersonalFlags } from '../../messages/message.js';
import type { MessageEdit } from '../../messages/message-edit.js';
import { checkNewRealm } from '../../organization/add-realm.js';
import type { GroupSettings } from '../../permissions/group-setting.js';
import { type MadePicture, namePicture, type PictureMaker } from '../../pictures/picture-maker.js';
import type { Reaction } from '../../reactions/reaction.js';
import { mapChannelSettings } from '../../realms/channel-settings.js';
import { callOffDeletion, type DeleteRealmData, planDeletion } from '../../realms/delete-realm-data.js';
import type { Realm } from '../../realms/realm.js';
import { unreachableStringId } from '../../realms/realm-data.js';
import {
  REALM_IMAGE_NAMES,
  type RealmImage,
  type RealmImageName,
  type RealmImages,
} from '../../realms/realm-images.js';
import { type ServerAddress, takesServerAddress } from '../../realms/server-address.js';
import { planDelivery, REMINDER_JOB, SCHEDULED_MESSAGE_JOB } from '../../scheduling/delivery-jobs.js';
import type { Clock, Randomness } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type {
  ChannelFolderId,
  ChannelId,
  CustomEmojiId,
  DefaultChannelGroupId,
  DraftId,
  FileId,
  GroupId,
  MessageId,
  Ordinal,
  ProfileFieldId,
  RealmId,
  RecipientId,
  ReminderId,
  SnippetId,
  UserId,
} from '../../shared/ids.js';
import { recordOf } from '../../shared/record-of.js';
import { slicesOf } from '../../shared/slices.js';
import type { Transaction, UnitOfWork } from '../../shared/unit-of-work.js';
import type { ProfileValue } from '../../users/profile-value.js';
import type { AppendedCopy, FlagsCopy } from '../copy-repository.js';
import { IdMap, invalidImport, MessageIds } from '../id-map.js';
import { ImportedPictures } from '../imported-pictures.js';
import { OrdinalRuns, type ReceiverRuns } from '../ordinal-runs.js';
import type {
  EmojiCopy,
  FileCopy,
  GroupCopy,
  MessageCopy,
  PersonCopy,
  RealmCopy,
  RealmSource,
  UserCopy,
} from '../realm-copy.js';
import { TextRewriter } from '../rewrite-text.js';

export interface ImportRealmInput {
  readonly source: RealmSource;
  /** Null: the one that it had. */
  readonly stringId: string | null;
  /** Called now and then with how many messages are there. */
  readonly onProgress?: (messages: number) => void;
}

export interface ImportRealmOutput {
  readonly realm: Realm;
  readonly users: number;
  readonly channels: number;
  readonly messages: number;
  readonly files: number;
  /** Files whose bytes were not in the export; links to them in messages are broken. */
  readonly missingFiles: number;
  /** Custom emoji, avatars, icon and logos. */
  readonly pictures: number;
  /** Pictures whose bytes were not in the export, or cannot be shown. */
  readonly missingPictures: number;
}

const USERS_AT_A_TIME = 200;
const FILES_AT_A_TIME = 100;
const ENTRIES_AT_A_TIME = 1000;
const MESSAGES_AT_A_TIME = 4000;
const MESSAGES_BEFORE_YIELD = 50;
/** If the process ends in the middle, what is there is removed after that time. */
const ABANDONED_SECONDS = 86_400;

/**
 * Makes an organization of an export, for the operator. Nobody can reach it before everything is there; when something is wrong,
 * all of it is removed again. Ids stay what they were where they are free: on a new server all of them.
 */
export class ImportRealm {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly images: ImageProcessor,
    private readonly pictureMaker: PictureMaker,
    private readonly thumbnails: Thumbnails,
    private readonly mint: ApiKeyMint,
    private readonly server: ServerAddress,
    private readonly deletion: DeleteRealmData,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError INVALID_IMPORT, INVALID_STRING_ID, STRING_ID_TAKEN, INVALID_REALM_NAME, NO_ADDRESS_LEFT */
  async execute({ source, stringId: given, onProgress = () => {} }: ImportRealmInput): Promise<ImportRealmOutput> {
    const stringId = given ?? source.realm.realm.stringId;
    checkNewRealm({ stringId, name: source.realm.realm.name });
    const realmId = await this.uow.write(async (tx) => {
      const realms = await tx.realms.list();
      takesServerAddress(stringId, realms, this.server);
      if (realms.some((realm) => realm.stringId === stringId)) {
        throw new DomainError('STRING_ID_TAKEN', 'Subdomain already in use. Please choose a different one.');
      }
      return this.begin(tx, source.realm, realms);
    });
    const pictures = new ImportedPictures(this.images, this.pictureMaker);
    const { uow, blobs, thumbnails, mint, clock, randomness } = this;
    const importing = new Importing({ uow, blobs, thumbnails, mint, clock, randomness }, pictures, realmId, source);
    try {
      const counts = await importing.run(onProgress);
      const realm = await this.uow.write(async (tx) => {
        const isAtServerAddress = takesServerAddress(stringId, await tx.realms.list(), this.server);
        const complete = { ...(await tx.realms.get(realmId)), stringId, isAtServerAddress, isDeactivated: false };
        await tx.realms.update(complete);
        await callOffDeletion(tx, realmId);
        return complete;
      });
      return { realm, ...counts };
    } catch (error) {
      await this.deletion.deleteNow(realmId);
      throw error;
    }
  }

  private async begin(tx: Transaction, { realm }: RealmCopy, others: readonly Realm[]): Promise<RealmId> {
    const { id: old, permissions: _, ...copied } = realm;
    const isUuidTaken = others.some(({ uuid }) => uuid === realm.uuid);
    const row = {
      ...copied,
      stringId: unreachableStringId(this.randomness.uuid()),
      uuid: isUuidTaken ? this.randomness.uuid() : realm.uuid,
      isDeactivated: true,
      // Until there are the pictures.
      images: mapImages(realm.images, ({ version }) => ({ isUploaded: false, version })),
      isAtServerAddress: false,
      settings: mapChannelSettings(realm.settings, () => null),
    };
    const ids = new IdMap<RealmId>('realm', 'organization');
    const realmId = await ids.add(
      tx,
      old,
      () => tx.realms.add(row),
      (id) => id,
    );
    await planDeletion(tx, realmId, this.clock.now() + ABANDONED_SECONDS);
    return realmId;
  }
}

const mapImages = (images: RealmImages, map: (image: RealmImage) => RealmImage): RealmImages =>
  recordOf(REALM_IMAGE_NAMES, (name) => map(images[name]));

interface ImportTools {
  readonly uow: UnitOfWork;
  readonly blobs: BlobStore;
  readonly thumbnails: Thumbnails;
  readonly mint: ApiKeyMint;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** A file whose bytes are there. */
interface ReceivedFile {
  readonly copy: FileCopy;
  readonly ownerId: UserId;
  readonly blob: BlobKey;
  readonly size: number;
  readonly image: FileImage | null;
}

/** One import under way. */
class Importing {
  private readonly uow: UnitOfWork;
  private readonly users = new IdMap<UserId>('user', 'user');
  private readonly groups = new IdMap<GroupId>('group', 'user group');
  private readonly channels = new IdMap<ChannelId>('channel', 'channel');
  private readonly folders = new IdMap<ChannelFolderId>('channelFolder', 'channel folder');
  private readonly fields = new IdMap<ProfileFieldId>('profileField', 'profile field');
  private readonly recipients = new IdMap<RecipientId>('recipient', 'recipient');
  private readonly messages = new MessageIds();
  private readonly emoji = new IdMap<CustomEmojiId>('customEmoji', 'custom emoji');
  private readonly emojiFiles = new Map<string, string>();
  private readonly rewriter: TextRewriter;
  private readonly runs = new OrdinalRuns();
  private readonly usersById = new Map<UserId, UserCopy>();
  private readonly participants = new Map<RecipientId, readonly UserId[]>();

  constructor(
    private readonly tools: ImportTools,
    private readonly pictures: ImportedPictures,
    private readonly realmId: RealmId,
    private readonly source: RealmSource,
  ) {
    this.uow = tools.uow;
    const { users, groups, channels, messages, emojiFiles } = this;
    const realm = { from: source.realm.realm.id, to: realmId };
    this.rewriter = new TextRewriter({ realm, users, groups, channels, messages, emojiFiles });
  }

  async run(onProgress: (messages: number) => void): Promise<Omit<ImportRealmOutput, 'realm'>> {
    const copy = this.source.realm;
    for (const copied of copy.users) this.usersById.set(copied.user.id, copied);
    for (const { recipientId, userIds } of copy.conversations) this.participants.set(recipientId, userIds);
    await this.addGroups(copy.groups);
    await this.addUsers(copy.users);
    await this.uow.write((tx) => this.addMembers(tx, copy.groups));
    await this.uow.write((tx) => this.addLists(tx, copy));
    await this.addChannels(copy);
    await this.uow.write((tx) => this.completeRealm(tx, copy));
    await this.completeBots(copy.users);
    // Before texts, in which they are shown.
    await this.addCustomEmoji(copy.customEmoji);
    const messages = await this.addMessages(onProgress);
    await this.addPeople();
    await this.uow.write((tx) => this.noteFirstMessages(tx, copy));
    const { files, missingFiles } = await this.addFiles();
    await this.addAvatars();
    await this.addRealmImages();
    const { made: pictures, missing: missingPictures } = this.pictures;
    const [users, channels] = [copy.users.length, copy.channels.length];
    return { users, channels, messages, files, missingFiles, pictures, missingPictures };
  }

  private async addGroups(copies: readonly GroupCopy[]): Promise<void> {
    await this.uow.write(async (tx) => {
      for (const { memberIds: _, subgroupIds: __, ...group } of ascending(copies)) {
        const row = { ...group, realmId: this.realmId, permissions: null, creatorId: null };
        await this.groups.add(
          tx,
          group.id,
          () => tx.groups.add(row, [], []),
          ({ id }) => id,
        );
        await tx.yield();
      }
    });
  }

  private async addUsers(copies: readonly UserCopy[]): Promise<void> {
    for (const slice of slicesOf(ascending(copies.map((copy) => ({ ...copy, id: copy.user.id }))), USERS_AT_A_TIME)) {
      await this.uow.write(async (tx) => {
        for (const { user, systemKind } of slice) {
          const { id, version: _, ...copied } = user;
          // Until there is the picture.
          const source = user.avatar.source === 'uploaded' ? 'generated' : user.avatar.source;
          const bot = user.bot && { ...user.bot, ownerId: null, defaultSendingChannelId: null };
          const row = { ...copied, realmId: this.realmId, bot, avatar: { source, version: user.avatar.version } };
          const add = () => tx.users.add(row, null, systemKind ?? undefined);
          const added = await this.users.add(tx, id, add, (made) => made.id);
          if (systemKind === null) {
            const record = { realmId: this.realmId, userId: added.id, generation: 1 };
            await tx.apiKeys.put(record, this.tools.mint.fingerprint(this.tools.mint.derive(record)));
          }
        }
      });
    }
  }

  private async addMembers(tx: Transaction, copies: readonly GroupCopy[]): Promise<void> {
    for (const copy of copies) {
      const { memberIds, subgroupIds, ...group } = copy;
      const id = this.groups.get(group.id);
      await tx.groups.addMembers(this.realmId, id, this.users.list(memberIds));
      await tx.groups.addSubgroups(this.realmId, id, this.groups.list(subgroupIds));
      await tx.groups.update({
        ...group,
        id,
        realmId: this.realmId,
        creatorId: this.users.orNull(group.creatorId),
        permissions: group.permissions && this.permissionsOf(group.permissions),
      });
      await tx.yield();
    }
  }

  private permissionsOf<R extends GroupSettings<object>>(permissions: R): R {
    const mapped = Object.entries(permissions).map(([name, id]) => [name, this.groups.get(id as GroupId)]);
    return Object.fromEntries(mapped) as R;
  }

  private async addLists(tx: Transaction, copy: RealmCopy): Promise<void> {
    const { realmId } = this;
    const keep = async <T extends { readonly id: number }>(
      kind: 'linkifier' | 'playground' | 'allowedDomain',
      items: readonly T[],
      add: (item: T) => Promise<number>,
    ) => {
      const ids = new IdMap<number>(kind, kind);
      for (const item of ascending(items))
        await ids.add(
          tx,
          item.id,
          () => add(item),
          (id) => id,
        );
      return ids;
    };
    const linkifiers = await keep('linkifier', copy.linkifiers, (it) => tx.linkifiers.add(realmId, it));
    const inOrder = linkifiers.list(copy.linkifiers.map(({ id }) => id));
    if (inOrder.length > 0) await tx.linkifiers.reorder(realmId, inOrder);
    await keep('playground', copy.playgrounds, (it) => tx.playgrounds.add(realmId, it));
    await keep('allowedDomain', copy.allowedDomains, (it) => tx.allowedDomains.add(realmId, it));
    for (const { id, ...field } of ascending(copy.profileFields)) {
      const row = { ...field, realmId };
      const added = await this.fields.add(
        tx,
        id,
        () => tx.profiles.addField(row),
        (made) => made.id,
      );
      if (added.order !== field.order) await tx.profiles.updateField({ ...row, id: added.id });
    }
    for (const { id, ...folder } of ascending(copy.channelFolders)) {
      const row = { ...folder, realmId, creatorId: this.users.orNull(folder.creatorId) };
      const added = await this.folders.add(
        tx,
        id,
        () => tx.channelFolders.add(row),
        (made) => made.id,
      );
      if (added.order !== folder.order) await tx.channelFolders.update({ ...row, id: added.id });
    }
  }

  /** Channels and direct conversations in the order in which they came to be, which is that of their ids as recipients. */
  private async addChannels({ channels, conversations, defaultChannelGroups }: RealmCopy): Promise<void> {
    const { realmId } = this;
    const recipients = [
      ...channels.map((channel) => ({ recipientId: channel.recipientId, channel, userIds: null })),
      ...conversations.map(({ recipientId, userIds }) => ({ recipientId, channel: null, userIds })),
    ].sort((a, b) => a.recipientId - b.recipientId);
    for (const slice of slicesOf(recipients, USERS_AT_A_TIME)) {
      await this.uow.write(async (tx) => {
        for (const { recipientId, channel, userIds } of slice) {
          const add = channel
            ? async () => (await this.addChannel(tx, channel)).recipientId
            : () => tx.recipients.openDirect(realmId, this.users.list(userIds!));
          await this.recipients.add(tx, recipientId, add, (id) => id);
        }
      });
    }
    await this.uow.write(async (tx) => {
      const ids = new IdMap<DefaultChannelGroupId>('defaultChannelGroup', 'default channel group');
      for (const { id, ...group } of ascending(defaultChannelGroups)) {
        const channelIds = this.channels.list(group.channelIds).sort((a, b) => a - b);
        const row = { ...group, realmId, channelIds };
        await ids.add(
          tx,
          id,
          () => tx.defaultChannelGroups.add(row),
          (made) => made.id,
        );
      }
    });
  }

  private addChannel(tx: Transaction, channel: RealmCopy['channels'][number]) {
    const { id, recipientId: _, version: __, ...copied } = channel;
    const row = {
      ...copied,
      realmId: this.realmId,
      creatorId: this.users.orNull(channel.creatorId),
      folderId: channel.folderId === null ? null : this.folders.get(channel.folderId),
      firstMessageId: null,
      permissions: this.permissionsOf(channel.permissions),
    };
    return this.channels.add(
      tx,
      id,
      () => tx.channels.add(row),
      (made) => made.id,
    );
  }

  private async completeRealm(tx: Transaction, { realm }: RealmCopy): Promise<void> {
    await tx.realms.update({
      ...(await tx.realms.get(this.realmId)),
      settings: mapChannelSettings(realm.settings, (id) => this.channels.orNull(id)),
      permissions: this.permissionsOf(realm.permissions),
    });
  }

  private async completeBots(copies: readonly UserCopy[]): Promise<void> {
    for (const slice of slicesOf(
      copies.filter(({ user }) => user.bot !== null),
      USERS_AT_A_TIME,
    )) {
      await this.uow.write(async (tx) => {
        for (const { user, botOptions } of slice) {
          const id = this.users.get(user.id);
          const { ownerId, defaultSendingChannelId } = user.bot!;
          if (ownerId !== null || defaultSendingChannelId !== null) {
            const [stored] = await tx.users.list(this.realmId, [id]);
            const bot = {
              ...user.bot!,
              ownerId: this.users.orNull(ownerId),
              defaultSendingChannelId: this.channels.orNull(defaultSendingChannelId as ChannelId | null),
            };
            await tx.users.update({ ...stored!, bot });
          }
          if (botOptions) await tx.bots.putOptions(this.realmId, id, this.optionsOf(botOptions));
        }
      });
    }
  }

  private optionsOf(options: BotOptions): BotOptions {
    return { ...options, eventsChannelId: this.channels.orNull(options.eventsChannelId) };
  }

  private async addCustomEmoji(copies: readonly EmojiCopy[]): Promise<void> {
    if (copies.length > MAX_CUSTOM_EMOJI) throw invalidImport(`It has more than ${MAX_CUSTOM_EMOJI} custom emoji.`);
    const copiesById = new Map(copies.map((copy) => [copy.id, copy]));
    for await (const picture of this.source.emojiPictures()) {
      const copy = copiesById.get(picture.of)!;
      await this.pictures.add(picture, this.anybody(), emojiTargets, (made) =>
        this.uow.write((tx) => this.addEmoji(tx, copy, made)),
      );
    }
  }

  private async addAvatars(): Promise<void> {
    for await (const picture of this.source.avatars()) {
      const userId = this.users.get(picture.of);
      await this.pictures.add(
        picture,
        userId,
        () => AVATAR_TARGETS,
        (made) => this.uow.write((tx) => this.addAvatar(tx, userId, made)),
      );
    }
  }

  /** At an address of its own, which only the new server tells. */
  private async addAvatar(tx: Transaction, userId: UserId, made: readonly MadePicture[]): Promise<void> {
    if (made.length === 0) return;
    const [user] = await tx.users.list(this.realmId, [userId]);
    await tx.users.update({ ...user!, avatar: await nameAvatar(tx, this.realmId, made, user!.avatar.version) });
  }

  private async addRealmImages(): Promise<void> {
    for await (const picture of this.source.realmImages()) {
      await this.pictures.add(
        picture,
        this.anybody(),
        () => [REALM_IMAGE_TARGETS[picture.of]],
        ([made]) => this.uow.write((tx) => this.addRealmImage(tx, picture.of, made)),
      );
    }
  }

  private async addRealmImage(tx: Transaction, name: RealmImageName, made: MadePicture | undefined): Promise<void> {
    if (!made) return;
    await namePicture(tx, this.realmId, name, made);
    const realm = await tx.realms.get(this.realmId);
    const image = { ...realm.images[name], isUploaded: true };
    await tx.realms.update({ ...realm, images: { ...realm.images, [name]: image } });
  }

  /** Whose turn it is to have images read: here it is everybody's. */
  private anybody(): UserId {
    return this.users.get(this.source.realm.users[0]!.user.id);
  }

  /** One without a picture stays, for what was said with it. */
  private async addEmoji(tx: Transaction, copy: EmojiCopy, [picture, still]: readonly MadePicture[]): Promise<void> {
    const { realmId } = this;
    const row = {
      realmId,
      name: copy.name,
      authorId: (copy.authorId !== null && this.users.find(copy.authorId)) || null,
      format: picture?.format ?? copy.format,
      isAnimated: picture !== undefined && picture.frames > 1,
    };
    const add = () => tx.customEmoji.add(row);
    const { id, format } = await this.emoji.add(tx, copy.id, add, (made) => made.id);
    if (picture) await namePicture(tx, realmId, `emoji/${id}`, picture);
    if (still) await namePicture(tx, realmId, `emoji/${id}/still`, still);
    if (copy.isDeactivated) await tx.customEmoji.deactivate(realmId, id);
    if (copy.fileName !== `${id}.${format}`) this.emojiFiles.set(copy.fileName, `${id}.${format}`);
  }

  /** Codes of custom emoji are their ids. */
  private emojiOf<E extends Pick<Reaction, 'type' | 'code'>>(emoji: E): E {
    const id = emoji.type === 'custom' ? this.emoji.find(Number(emoji.code) as CustomEmojiId) : undefined;
    return id === undefined ? emoji : { ...emoji, code: String(id) };
  }

  private async addMessages(onProgress: (messages: number) => void): Promise<number> {
    let count = 0;
    for await (const page of pagesOf(this.source.messages(), MESSAGES_AT_A_TIME)) {
      await this.uow.write((tx) => this.addPage(tx, page));
      count += page.length;
      onProgress(count);
    }
    return count;
  }

  private async addPage(tx: Transaction, page: readonly MessageCopy[]): Promise<void> {
    // Before texts, which may name any of them.
    const ids = await this.messages.take(
      tx,
      page.map(({ message }) => message.id),
    );
    const rows: AppendedCopy[] = [];
    for (const [index, copy] of page.entries()) {
      rows.push(this.rowOf(copy, ids[index]!, await this.recipientOf(tx, copy)));
      if (index % MESSAGES_BEFORE_YIELD === 0) await tx.yield();
    }
    const ordinals = await tx.copies.appendMessages(rows);
    const special: FlagsCopy[] = [];
    for (const [index, copy] of page.entries()) {
      const { id, recipientId } = rows[index]!;
      await this.addParts(tx, copy, id);
      this.noteReceivers(copy, this.runs.to(recipientId), ordinals[index]!);
      for (const { userId, flags } of copy.holders) {
        if (isSpecial(flags)) special.push({ userId: this.users.get(userId), messageId: id, flags });
      }
      if (index % MESSAGES_BEFORE_YIELD === 0) await tx.yield();
    }
    for (const slice of slicesOf(special, ENTRIES_AT_A_TIME)) {
      await tx.copies.putFlags(this.realmId, slice);
      await tx.yield();
    }
  }

  private rowOf({ message }: MessageCopy, id: MessageId, recipientId: RecipientId): AppendedCopy {
    return {
      ...message,
      id,
      realmId: this.realmId,
      recipientId,
      senderId: this.users.get(message.senderId),
      channelId: this.channels.orNull(message.channelId),
      content: this.rewriter.markdown(message.content),
      renderedContent: this.rewriter.html(message.renderedContent),
    };
  }

  private async recipientOf(tx: Transaction, { message, conversation }: MessageCopy): Promise<RecipientId> {
    if (!conversation) return this.recipients.get(message.recipientId);
    return tx.recipients.openDirect(this.realmId, this.users.list(conversation));
  }

  /** What few messages have. */
  private async addParts(
    tx: Transaction,
    { edits, reactions, submessages }: MessageCopy,
    id: MessageId,
  ): Promise<void> {
    const { realmId } = this;
    if (edits.length > 0) {
      const rows = edits.map((edit) => this.editOf(edit));
      await tx.copies.putEdits(realmId, id, rows);
    }
    for (const { userId, ...emoji } of reactions) {
      await tx.reactions.add(realmId, id, { ...this.emojiOf(emoji), userId: this.users.get(userId) });
    }
    for (const { senderId, kind, content } of submessages) {
      await tx.messages.addSubmessage(realmId, { messageId: id, senderId: this.users.get(senderId), kind, content });
    }
  }

  private noteReceivers({ message, conversation, holders }: MessageCopy, runs: ReceiverRuns, ordinal: Ordinal): void {
    for (const { userId, flags } of holders) {
      if (!flags.historical) runs.add(this.users.get(userId), ordinal, flags.read);
    }
    if (message.channelId !== null) return;
    // To people of a conversation of whom the export says nothing, what was said in it is read.
    const listed = new Set(holders.map(({ userId }) => userId));
    for (const userId of conversation ?? this.participants.get(message.recipientId) ?? []) {
      if (!listed.has(userId)) runs.add(this.users.get(userId), ordinal, true);
    }
  }

  private editOf({ userId, channel, previousContent, ...edit }: MessageEdit): MessageEdit {
    return {
      ...edit,
      userId: this.users.get(userId),
      channel: channel && { from: this.channels.get(channel.from), to: this.channels.get(channel.to) },
      previousContent: previousContent && {
        content: this.rewriter.markdown(previousContent.content),
        rendered: this.rewriter.html(previousContent.rendered),
      },
    };
  }

  private async addPeople(): Promise<void> {
    for await (const person of this.source.people()) {
      const userId = this.users.get(person.userId);
      if (this.usersById.get(person.userId)!.user.bot?.isSystem) {
        throw invalidImport(`User ${person.userId} is a bot of the system, and has nothing of its own.`);
      }
      await this.uow.write((tx) => this.addPerson(tx, userId, person));
      for (const entries of slicesOf(person.botStorage, ENTRIES_AT_A_TIME)) {
        await this.uow.write((tx) => tx.botStorage.put(this.realmId, userId, entries));
      }
    }
  }

  private async addPerson(tx: Transaction, userId: UserId, person: PersonCopy): Promise<void> {
    const { realmId } = this;
    const own = { realmId, userId };
    await tx.channels.putSubscriptions(
      person.subscriptions.map((it) => ({ ...it, ...own, channelId: this.channels.get(it.channelId) })),
    );
    for (const [recipientId, { received, read }] of this.runs.of(userId)) {
      await tx.copies.putReceived(own, recipientId, received, read);
      await tx.yield();
    }
    const followed = person.subscriptions.filter(({ isActive }) => isActive).map(({ channelId }) => channelId);
    for (const { recipientId } of await tx.channels.list(realmId, this.channels.list(followed))) {
      await tx.personal.openSpans(realmId, recipientId, [userId]);
    }
    for (const policy of person.topicPolicies) {
      await tx.topicPolicies.put({ ...policy, ...own, channelId: this.channels.get(policy.channelId) });
    }
    for (const value of person.profile) await tx.profiles.putValue(realmId, userId, this.profileValueOf(value));
    if (person.status) {
      const { emoji } = person.status;
      await tx.statuses.put(realmId, userId, { ...person.status, emoji: emoji && this.emojiOf(emoji) });
    }
    if (person.presence) {
      const updateId = await tx.presence.reserveIds(realmId, 1);
      await tx.presence.put(realmId, [{ ...person.presence, userId, updateId }]);
    }
    if (person.alertWords.length > 0) await tx.alertWords.add(realmId, userId, person.alertWords);
    for (const view of person.navigationViews) await tx.navigationViews.put(realmId, userId, view);
    for (const step of person.onboardingSteps) await tx.onboarding.markDone(realmId, userId, step);
    for (const muted of person.mutedUsers) {
      await tx.personal.muteSender(own, this.users.get(muted.userId), muted.mutedAt);
    }
    await tx.yield();
    await this.addPersonalTexts(tx, own, person);
  }

  private profileValueOf({ fieldId, value, rendered }: ProfileValue): ProfileValue {
    const field = this.source.realm.profileFields.find(({ id }) => id === fieldId);
    const isOfUsers = field?.kind === 'users';
    return {
      fieldId: this.fields.get(fieldId),
      value: isOfUsers ? JSON.stringify(userListOf(value).flatMap((id) => this.users.find(id) ?? [])) : value,
      rendered: rendered && this.rewriter.html(rendered),
    };
  }

  private async addPersonalTexts(
    tx: Transaction,
    own: { readonly realmId: RealmId; readonly userId: UserId },
    { drafts, snippets, scheduledMessages, reminders }: PersonCopy,
  ): Promise<void> {
    const draftIds = new IdMap<DraftId>('draft', 'draft');
    for (const { id, ...draft } of drafts) {
      const { to } = draft;
      const mapped =
        to.kind === 'channel'
          ? { ...to, channelId: this.channels.get(to.channelId) }
          : to.kind === 'direct'
            ? { ...to, userIds: this.users.list(to.userIds) }
            : to;
      const row = { ...draft, ...own, to: mapped, content: this.rewriter.markdown(draft.content) };
      await draftIds.add(
        tx,
        id,
        () => tx.drafts.add(row),
        (made) => made.id,
      );
    }
    const snippetIds = new IdMap<SnippetId>('snippet', 'saved snippet');
    for (const { id, ...snippet } of snippets) {
      const row = { ...snippet, ...own, content: this.rewriter.markdown(snippet.content) };
      await snippetIds.add(
        tx,
        id,
        () => tx.snippets.add(row),
        (made) => made.id,
      );
    }
    const due = [
      ...scheduledMessages.map((it) => ({ id: it.id as number, add: () => this.addScheduled(tx, own, it) })),
      ...reminders.map((it) => ({ id: it.id as number, add: () => this.addReminder(tx, own, it) })),
    ];
    const dueIds = new IdMap<number>('scheduled', 'scheduled message');
    for (const { id, add } of ascending(due)) await dueIds.add(tx, id, add, (made) => made);
  }

  private async addScheduled(
    tx: Transaction,
    own: { readonly realmId: RealmId; readonly userId: UserId },
    message: PersonCopy['scheduledMessages'][number],
  ): Promise<number> {
    const { id: _, status, failure, to, ...copied } = message;
    const added = await tx.scheduledMessages.add({
      ...copied,
      ...own,
      to:
        to.kind === 'channelId'
          ? { kind: 'channelId', id: this.channels.get(to.id) }
          : { kind: 'userIds', ids: this.users.list(to.ids) },
      content: this.rewriter.markdown(copied.content),
      renderedContent: this.rewriter.html(copied.renderedContent),
    });
    if (status === 'waiting') await planDelivery(tx, SCHEDULED_MESSAGE_JOB, added);
    else await tx.scheduledMessages.update({ ...added, status, failure });
    return added.id;
  }

  private async addReminder(
    tx: Transaction,
    own: { readonly realmId: RealmId; readonly userId: UserId },
    reminder: PersonCopy['reminders'][number],
  ): Promise<number> {
    const { id: _, failure, messageId, ...copied } = reminder;
    const added = await tx.reminders.add({
      ...copied,
      ...own,
      // It may have been deleted.
      messageId: this.messages.find(messageId) ?? messageId,
      content: this.rewriter.markdown(copied.content),
      renderedContent: this.rewriter.html(copied.renderedContent),
    });
    if (failure === null) await planDelivery(tx, REMINDER_JOB, added);
    else await tx.reminders.fail(own.realmId, added.id as ReminderId, failure);
    return added.id;
  }

  private async noteFirstMessages(tx: Transaction, { channels }: RealmCopy): Promise<void> {
    for (const { id, firstMessageId } of channels) {
      const found = firstMessageId === null ? undefined : this.messages.find(firstMessageId);
      const channel = (await tx.channels.find(this.realmId, this.channels.get(id)))!;
      const [oldest = null] =
        found === undefined ? await tx.messages.listOldestIds(this.realmId, channel.recipientId, 1) : [];
      const first = found ?? oldest;
      if (first !== null) await tx.channels.update({ ...channel, firstMessageId: first });
      await tx.yield();
    }
  }

  private async addFiles(): Promise<{ readonly files: number; readonly missingFiles: number }> {
    const ids = new IdMap<FileId>('file', 'file');
    let files = 0;
    let missingFiles = 0;
    let received: ReceivedFile[] = [];
    const flush = async () => {
      const batch = received;
      received = [];
      await this.uow.write(async (tx) => {
        for (const file of batch) await this.addFile(tx, ids, file);
      });
      files += batch.length;
    };
    for await (const copy of this.source.files()) {
      if (copy.content) received.push(await this.receive(copy, copy.content));
      else missingFiles++;
      if (received.length >= FILES_AT_A_TIME) await flush();
    }
    await flush();
    return { files, missingFiles };
  }

  /** @throws DomainError SERVER_BUSY */
  private async receive(copy: FileCopy, content: AsyncIterable<Uint8Array>): Promise<ReceivedFile> {
    const { blobs, thumbnails, randomness } = this.tools;
    const { contentType } = copy.file;
    const ownerId = this.users.get(copy.file.ownerId);
    const blob = newBlobKey(randomness);
    const size = await blobs.put(blob, content);
    return { copy, ownerId, blob, size, image: await thumbnails.inspect({ blob, size, contentType, ownerId }) };
  }

  private async addFile(tx: Transaction, ids: IdMap<FileId>, { copy, ...received }: ReceivedFile): Promise<void> {
    const { id, ...file } = copy.file;
    const pathId = this.rewriter.pathId(file.pathId);
    if (pathId === null) throw invalidImport(`The file ${file.pathId} is of another organization.`);
    const row = { ...file, ...received, realmId: this.realmId, pathId };
    const added = await ids.add(
      tx,
      id,
      () => tx.files.add(row),
      (made) => made.id,
    );
    for (const messageId of copy.messageIds) {
      await tx.files.attach(this.realmId, this.messages.get(messageId), [added.id]);
      // It may have been sent shortly before the export.
      if (added.image) await tx.files.awaitThumbnails(this.realmId, this.messages.get(messageId), [added.id]);
      await tx.yield();
    }
    if (added.image) await scheduleThumbnails(tx, added, this.tools.clock);
  }
}

/** Whether a message is anything to somebody but received, and read or not. */
const isSpecial = (flags: PersonalFlags): boolean =>
  flags.starred ||
  flags.collapsed ||
  flags.mentioned ||
  flags.topicWildcardMentioned ||
  flags.hasAlertWord ||
  flags.historical;

/** Those that come, put together to pages of at least so many messages, as far as there are so many. */
async function* pagesOf(
  source: AsyncIterable<readonly MessageCopy[]>,
  size: number,
): AsyncGenerator<readonly MessageCopy[]> {
  let page: MessageCopy[] = [];
  for await (const messages of source) {
    for (const message of messages) page.push(message);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

const ascending = <T extends { readonly id: number }>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => a.id - b.id);

function userListOf(value: string): readonly UserId[] {
  let ids: unknown;
  try {
    ids = JSON.parse(value);
  } catch {
    ids = null;
  }
  if (!Array.isArray(ids) || !ids.every(Number.isSafeInteger))
    throw invalidImport('A list of users is no list of ids.');
  return ids as UserId[];
}
