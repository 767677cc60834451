import { emojiTargets, MAX_CUSTOM_EMOJI } from '../../files/custom-emoji.js';
import { type MadePicture, namePicture } from '../../files/picture-maker.js';
import { REALM_IMAGE_TARGETS } from '../../files/realm-image-targets.js';
import type { UserId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { RealmImageName } from '../../realms/realm-images.js';
import { AVATAR_TARGETS, nameAvatar } from '../../users/change-avatar.js';
import type { EmojiCopy, RealmSource } from '../realm-copy.js';
import { invalidImport } from './id-map.js';
import type { ImportedIds } from './imported-ids.js';
import type { ImportedPictures } from './imported-pictures.js';

/** Custom emoji, avatars, icon and logos. */
export class PictureImport {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: ImportedPictures,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
  ) {}

  /** Before texts, in which they are shown. */
  async addCustomEmoji(): Promise<void> {
    const copies = this.source.realm.customEmoji;
    if (copies.length > MAX_CUSTOM_EMOJI) throw invalidImport(`It has more than ${MAX_CUSTOM_EMOJI} custom emoji.`);
    const copiesById = new Map(copies.map((copy) => [copy.id, copy]));
    for await (const picture of this.source.emojiPictures()) {
      const copy = copiesById.get(picture.of)!;
      await this.pictures.add(picture, this.anybody(), emojiTargets, (made) =>
        this.uow.write((tx) => this.addEmoji(tx, copy, made)),
      );
    }
  }

  /** One without a picture stays, for what was said with it. */
  private async addEmoji(tx: Transaction, copy: EmojiCopy, [picture, still]: readonly MadePicture[]): Promise<void> {
    const { realmId } = this.ids;
    const row = {
      realmId,
      name: copy.name,
      authorId: (copy.authorId !== null && this.ids.users.find(copy.authorId)) || null,
      format: picture?.format ?? copy.format,
      isAnimated: picture !== undefined && picture.frames > 1,
    };
    const add = () => tx.customEmoji.add(row);
    const { id, format } = await this.ids.emoji.add(tx, copy.id, add);
    if (picture) await namePicture(tx, realmId, `emoji/${id}`, picture);
    if (still) await namePicture(tx, realmId, `emoji/${id}/still`, still);
    if (copy.isDeactivated) await tx.customEmoji.deactivate(realmId, id);
    if (copy.fileName !== `${id}.${format}`) this.ids.emojiFiles.set(copy.fileName, `${id}.${format}`);
  }

  async addAvatars(): Promise<void> {
    for await (const picture of this.source.avatars()) {
      const userId = this.ids.users.get(picture.of);
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
    const [user] = await tx.users.list(this.ids.realmId, [userId]);
    await tx.users.update({ ...user!, avatar: await nameAvatar(tx, this.ids.realmId, made, user!.avatar.version) });
  }

  async addRealmImages(): Promise<void> {
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
    await namePicture(tx, this.ids.realmId, name, made);
    const realm = await tx.realms.get(this.ids.realmId);
    const image = { ...realm.images[name], isUploaded: true };
    await tx.realms.update({ ...realm, images: { ...realm.images, [name]: image } });
  }

  /** Whose turn it is to have images read: here it is everybody's. */
  private anybody(): UserId {
    return this.ids.users.get(this.source.realm.users[0]!.user.id);
  }
}
