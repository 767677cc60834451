import {
  emojiTargets,
  type ImageInfo,
  MAX_CUSTOM_EMOJI,
  type MadePicture,
  namePicture,
  type PictureTarget,
  REALM_IMAGE_TARGETS,
} from '@parley/domain/files';
import {
  DomainError,
  getOrThrow,
  type IdKind,
  invalidImport,
  type PersonCopy,
  type PersonPart,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UserId,
  type WorkOwner,
} from '@parley/domain/kernel';
import { measured } from '@parley/domain/membership';
import type { RealmImageName } from '@parley/domain/realms';
import { AVATAR_TARGETS, nameAvatar } from '@parley/domain/users';
import {
  type EmojiCopy,
  MAX_PICTURE_BYTES,
  type PictureCopy,
  type RealmSource,
  type UserCopy,
} from '../exports/realm-copy.js';
import type { ImportedIds } from './import-ids.js';
import type { ImportPorts } from './import-ports.js';
import type { OrdinalRuns } from './ordinal-runs.js';

/** Recreates and counts the pictures of an export, because their bytes are untrusted. */
export class ImportedPictures {
  made = 0;
  /** Number of pictures with bytes that are missing, too large or not an image. */
  missing = 0;

  constructor(private readonly ports: ImportPorts) {}

  /**
   * Passes an empty list to `work` if there is no picture. `owner` selects the processing queue. @throws DomainError
   * SERVER_BUSY
   */
  async add<Of>(
    { content }: PictureCopy<Of>,
    owner: WorkOwner,
    targetsOf: (info: ImageInfo) => readonly PictureTarget[],
    work: (made: readonly MadePicture[]) => Promise<void>,
  ): Promise<void> {
    const bytes = content && (await bytesOf(content));
    const info = bytes && (await this.inspect(bytes, owner));
    if (!bytes || !info) {
      this.missing++;
      return work([]);
    }
    await this.ports.pictureMaker.makeAhead(owner, bytes, targetsOf(info), async (made) => {
      if (made instanceof DomainError) {
        if (made.kind === 'unavailable') throw made;
        this.missing++;
        return work([]);
      }
      await work(made);
      this.made++;
    });
  }

  private async inspect(bytes: Uint8Array, owner: WorkOwner): Promise<ImageInfo | null> {
    try {
      return await this.ports.images.inspect(bytes, owner);
    } catch (error) {
      if (error instanceof DomainError && error.kind !== 'unavailable') return null;
      throw error;
    }
  }
}

/** Returns null if the content is too large. */
async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > MAX_PICTURE_BYTES) return null;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Imports custom emoji, avatars, icon and logos. */
export class PictureImport {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: ImportedPictures,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
  ) {}

  /** Owner of the queue for images without a person. */
  private get nobody(): WorkOwner {
    return { realmId: this.ids.realmId, userId: 0 as UserId };
  }

  /** Runs before texts with emoji are imported. */
  async addCustomEmoji(): Promise<void> {
    const copies = this.source.realm.customEmoji;
    if (copies.length > MAX_CUSTOM_EMOJI) throw invalidImport(`It has more than ${MAX_CUSTOM_EMOJI} custom emoji.`);
    const copiesById = new Map(copies.map((copy) => [copy.id, copy]));
    for await (const picture of this.source.emojiPictures()) {
      const copy = getOrThrow(copiesById, picture.of);
      await this.pictures.add(picture, this.nobody, emojiTargets, (made) =>
        this.uow.write(this.ids.realmId, (tx) => this.addEmoji(tx, copy, made)),
      );
    }
  }

  /** Imports an emoji even without a picture, because messages refer to it. */
  private async addEmoji(tx: Transaction, copy: EmojiCopy, [picture, still]: readonly MadePicture[]): Promise<void> {
    const { realmId } = this.ids;
    const row = {
      realmId,
      name: copy.name,
      authorId: (copy.authorId !== null && this.ids.users.find(copy.authorId)) || null,
      format: picture?.format ?? copy.format,
      isAnimated: picture !== undefined && picture.frames > 1,
      isDeactivated: copy.isDeactivated,
    };
    const add = () => tx.customEmoji.add(row);
    const { id, format } = await this.ids.emoji.add(tx, copy.id, add);
    if (picture) await namePicture(tx, realmId, `emoji/${id}`, picture);
    if (still) await namePicture(tx, realmId, `emoji/${id}/still`, still);
    tx.onRollback(() => this.ids.emojiFiles.delete(copy.fileName));
    if (copy.fileName !== `${id}.${format}`) this.ids.emojiFiles.set(copy.fileName, `${id}.${format}`);
  }

  async addAvatars(): Promise<void> {
    for await (const picture of this.source.avatars()) {
      const userId = this.ids.users.get(picture.of);
      await this.pictures.add(
        picture,
        { realmId: this.ids.realmId, userId },
        () => AVATAR_TARGETS,
        (made) => this.uow.write(this.ids.realmId, (tx) => this.addAvatar(tx, userId, made)),
      );
    }
  }

  /** Stores the avatar under a new key known only to this server. */
  private async addAvatar(tx: Transaction, userId: UserId, made: readonly MadePicture[]): Promise<void> {
    if (made.length === 0) return;
    const [user] = await tx.users.list(this.ids.realmId, [userId]);
    await tx.users.update({ ...user!, avatar: await nameAvatar(tx, this.ids.realmId, made, user!.avatar.version) });
  }

  async addRealmImages(): Promise<void> {
    for await (const picture of this.source.realmImages()) {
      await this.pictures.add(
        picture,
        this.nobody,
        () => [REALM_IMAGE_TARGETS[picture.of]],
        ([made]) => this.uow.write(this.ids.realmId, (tx) => this.addRealmImage(tx, picture.of, made)),
      );
    }
  }

  private async addRealmImage(tx: Transaction, name: RealmImageName, made: MadePicture | undefined): Promise<void> {
    if (!made) return;
    await namePicture(tx, this.ids.realmId, name, made);
    const realm = await tx.realms.get(this.ids.realmId);
    const image = { ...realm.images[name], isUploaded: true };
    await tx.realms.update({ ...realm, images: { ...realm.images, [name]: image } });
  }
}

const ENTRIES_AT_A_TIME = 1000;

/** Imports personal data: subscriptions, read state, settings, drafts and scheduled messages. */
export class PeopleImport {
  private readonly usersById: ReadonlyMap<UserId, UserCopy>;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
    private readonly runs: OrdinalRuns,
    private readonly parts: readonly PersonPart[],
  ) {
    this.usersById = new Map(source.realm.users.map((copied) => [copied.user.id, copied]));
  }

  async run(): Promise<void> {
    await this.reserveIds();
    for await (const person of this.source.people()) {
      const userId = this.ids.users.get(person.userId);
      if (getOrThrow(this.usersById, person.userId).user.bot?.isSystem) {
        throw invalidImport(`User ${person.userId} is a bot of the system, and has nothing of its own.`);
      }
      await this.uow.write(this.ids.realmId, (tx) => this.addPerson(tx, userId, person));
      for (const entries of slicesOf(person.botStorage, ENTRIES_AT_A_TIME)) {
        await this.uow.write(this.ids.realmId, (tx) =>
          tx.botStorage.put(this.ids.realmId, userId, entries.map(measured)),
        );
      }
    }
  }

  private async reserveIds(): Promise<void> {
    const lastIds = new Map<IdKind, number>();
    for await (const person of this.source.people()) {
      for (const part of this.parts) {
        for (const [kind, ids = []] of Object.entries(part.idsOf?.(person) ?? {})) {
          const last = lastIds.get(kind as IdKind) ?? 0;
          lastIds.set(
            kind as IdKind,
            ids.reduce((a, b) => Math.max(a, b), last),
          );
        }
      }
    }
    await this.uow.write(this.ids.realmId, async (tx) => {
      for (const [kind, last] of lastIds) await this.ids.reserve(tx, kind, last);
    });
  }

  private async addPerson(tx: Transaction, userId: UserId, person: PersonCopy): Promise<void> {
    const { realmId } = this.ids;
    const own = { realmId, userId };
    await tx.channels.putSubscriptions(
      person.subscriptions.map((it) => ({ ...it, ...own, channelId: this.ids.channels.get(it.channelId) })),
    );
    const subscribed = person.subscriptions.filter(({ isActive }) => isActive).map(({ channelId }) => channelId);
    const channels = await tx.channels.list(realmId, this.ids.channels.list(subscribed));
    const recipientIds = channels.map(({ recipientId }) => recipientId);
    for (const [recipientId, { received, read }] of this.runs.of(userId, recipientIds)) {
      await tx.copies.putReceived(own, recipientId, received, read);
    }
    await tx.personal.openSpans(realmId, recipientIds, [userId]);
    for (const part of this.parts) {
      await part.add(tx, own, person, this.ids);
    }
  }
}
