import type { BlobKey } from '../files/blobs.js';
import { bytesOf, type ImageTarget, type ImageUpload, requireOneImage } from '../files/images.js';
import { type MadePicture, namePicture, PictureMaker, type PictureTarget } from '../files/pictures.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { Avatar, UploadedAvatar, User } from './user.js';
import { accessorsOf } from './user-delivery.js';
import { canChangeOwnAvatar } from './user-permissions.js';

const square = (size: number): ImageTarget => ({
  width: size,
  height: size,
  fit: 'cover',
  format: 'png',
  maxFrames: 1,
});

/** Sizes in pixels of the medium picture for profiles and of the standard one (users §1.3). */
export const AVATAR_TARGETS: readonly PictureTarget[] = [square(500), { ...square(100), isOfPrevious: true }];

export interface ChangedAvatar {
  readonly user: User;
  /** Blobs that are no longer referenced. */
  readonly replaced: readonly (BlobKey | null)[];
}

/** Assigns keys to the pictures made for `AVATAR_TARGETS`. Anyone who knows the random key can read them. */
export async function nameAvatar(
  tx: Transaction,
  realmId: RealmId,
  [medium, usual]: readonly MadePicture[],
  version: number,
): Promise<UploadedAvatar> {
  const key = usual!.blob;
  await namePicture(tx, realmId, `avatar/${key}`, usual!);
  await namePicture(tx, realmId, `avatar/${key}/medium`, medium!);
  return { source: 'uploaded', version, key };
}

/** Sets a user's avatar to the pictures made for `AVATAR_TARGETS`. */
export async function giveAvatar(tx: Transaction, user: User, made: readonly MadePicture[]): Promise<ChangedAvatar> {
  return changeAvatar(tx, user, await nameAvatar(tx, user.realmId, made, user.avatar.version + 1));
}

export async function changeAvatar(tx: Transaction, before: User, avatar: Avatar): Promise<ChangedAvatar> {
  const { realmId } = before;
  const user = await tx.users.update({ ...before, avatar });
  await tx.events.append(realmId, { event: { type: 'user.avatar_changed', user }, audience: accessorsOf(user.id) });
  if (before.avatar.source !== 'uploaded') return { user, replaced: [] };
  const { key } = before.avatar;
  return {
    user,
    replaced: [
      await tx.pictures.remove(realmId, `avatar/${key}`),
      await tx.pictures.remove(realmId, `avatar/${key}/medium`),
    ],
  };
}

/** User after the change. */
export interface AvatarOutput {
  readonly user: User;
  readonly realm: Realm;
}

export interface ChangeOwnAvatarInput {
  /** Null if the request has no file or several. */
  readonly image: ImageUpload | null;
}

/** Uploads an avatar for the caller (users §11). */
export class ChangeOwnAvatar {
  static readonly inject = ['unitOfWork', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * @throws DomainError ONE_IMAGE_REQUIRED, AVATAR_CHANGES_DISABLED, IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE, IMAGE_TOO_LARGE,
   * SERVER_BUSY
   */
  async execute(caller: Caller, { image }: ChangeOwnAvatarInput): Promise<AvatarOutput> {
    const upload = requireOneImage(image, 'avatar');
    await this.uow.read(caller.realmId, (reads) => loadChangeable(reads, caller));
    const { replaced, ...output } = await this.pictures.make(caller, bytesOf(upload), AVATAR_TARGETS, (made) =>
      this.uow.write(caller.realmId, async (tx) => {
        const { user, realm } = await loadChangeable(tx, caller);
        return { realm, ...(await giveAvatar(tx, user, made)) };
      }),
    );
    await this.pictures.discard(replaced);
    return output;
  }
}

/** Restores the organization's default avatar (users §11). Has no effect without an uploaded avatar. */
export class RemoveOwnAvatar {
  static readonly inject = ['unitOfWork', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: PictureMaker,
  ) {}

  /** @throws DomainError AVATAR_CHANGES_DISABLED */
  async execute(caller: Caller): Promise<AvatarOutput> {
    const { replaced, ...output } = await this.uow.write(caller.realmId, async (tx) => {
      const { user, realm } = await loadChangeable(tx, caller);
      const { source, version } = user.avatar;
      if (source !== 'uploaded') return { realm, user, replaced: [] };
      const usual = { source: realm.settings.defaultAvatarSource, version: version + 1 };
      return { realm, ...(await changeAvatar(tx, user, usual)) };
    });
    await this.pictures.discard(replaced);
    return output;
  }
}

async function loadChangeable(
  {
    actors,
    realms,
    users,
  }: Pick<Repositories, 'actors' | 'realms'> & { readonly users: Pick<Repositories['users'], 'get'> },
  caller: Caller,
): Promise<AvatarOutput> {
  const actor = await actors.get(caller);
  const realm = await realms.get(caller.realmId);
  enforce(canChangeOwnAvatar(actor, realm));
  return { realm, user: await users.get(realm.id, actor.id) };
}
