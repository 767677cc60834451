import { bytesOf, type GivenImage, requireOneImage } from '../../files/given-image.js';
import { PictureMaker } from '../../files/picture-maker.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { AVATAR_TARGETS, changeAvatar, giveAvatar } from '../change-avatar.js';
import type { User } from '../user.js';
import { canChangeOwnAvatar } from '../user-permissions.js';

/** Somebody as they are now. */
export interface AvatarOutput {
  readonly user: User;
  readonly realm: Realm;
}

export interface ChangeOwnAvatarInput {
  /** Null: no file, or several. */
  readonly image: GivenImage | null;
}

/** An uploaded avatar for oneself (users §11). */
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
    const given = requireOneImage(image, 'avatar');
    await this.uow.read((reads) => loadChangeable(reads, caller));
    const { replaced, ...output } = await this.pictures.make(caller.userId, bytesOf(given), AVATAR_TARGETS, (made) =>
      this.uow.write(async (tx) => {
        const { user, realm } = await loadChangeable(tx, caller);
        return { realm, ...(await giveAvatar(tx, user, made)) };
      }),
    );
    await this.pictures.discard(replaced);
    return output;
  }
}

/** Back to the organization's usual avatars (users §11). Nothing happens where none was uploaded. */
export class RemoveOwnAvatar {
  static readonly inject = ['unitOfWork', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: PictureMaker,
  ) {}

  /** @throws DomainError AVATAR_CHANGES_DISABLED */
  async execute(caller: Caller): Promise<AvatarOutput> {
    const { replaced, ...output } = await this.uow.write(async (tx) => {
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
  }: Pick<Repositories, 'actors' | 'realms'> & { readonly users: Pick<Repositories['users'], 'find'> },
  caller: Caller,
): Promise<AvatarOutput> {
  const actor = await actors.get(caller);
  const realm = await realms.get(caller.realmId);
  enforce(canChangeOwnAvatar(actor, realm));
  return { realm, user: (await users.find(realm.id, actor.id))! };
}
