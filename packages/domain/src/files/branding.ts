import { wholeRealm } from '../kernel/event.js';
import type { Caller } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf, lastOf } from '../kernel/work.js';
import type { Realm, RealmImageName } from '../realms/realm.js';
import { canChangeBranding } from '../realms/realm-permissions.js';
import { bytesOf, type ImageTarget, type ImageUpload, requireOneImage } from './images.js';
import { namePicture, PictureMaker } from './pictures.js';

const STILL = { format: 'png', maxFrames: 1 } as const;
const LOGO: ImageTarget = { ...STILL, width: 800, height: 100, fit: 'inside' };
/** Icon of the installed application; the organization's regular icon is made from it. */
const LARGE_ICON: ImageTarget = { ...STILL, width: 512, height: 512, fit: 'cover' };
/** Target sizes in pixels. */
export const REALM_IMAGE_TARGETS: Readonly<Record<RealmImageName, ImageTarget>> = {
  icon: { ...STILL, width: 100, height: 100, fit: 'cover' },
  logo: LOGO,
  nightLogo: LOGO,
};

export interface RealmImageInput {
  readonly name: RealmImageName;
}

export interface ChangeRealmImageInput extends RealmImageInput {
  /** Null if the request has no file or several files. */
  readonly image: ImageUpload | null;
}

/** Uploads an icon or logo for the organization (organization §3). */
export class ChangeRealmImage {
  static readonly inject = ['unitOfWork', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * Returns the updated organization.
   * @throws DomainError MUST_BE_ADMINISTRATOR, ONE_IMAGE_REQUIRED, IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE,
   * IMAGE_TOO_LARGE, SERVER_BUSY
   */
  async execute(caller: Caller, { name, image }: ChangeRealmImageInput): Promise<Realm> {
    await this.uow.read(caller.realmId, (reads) => loadChangeable(reads, caller));
    const bytes = bytesOf(requireOneImage(image, name === 'icon' ? 'icon' : 'logo'));
    const target = REALM_IMAGE_TARGETS[name];
    const { realm, replaced } = await this.pictures.make(
      caller,
      bytes,
      name === 'icon' ? [LARGE_ICON, { ...target, isOfPrevious: true }] : [target],
      (made) =>
        this.uow.write(caller.realmId, async (tx) => {
          const before = await loadChangeable(tx, caller);
          const blobs = [await namePicture(tx, before.id, name, lastOf(made))];
          if (name === 'icon') blobs.push(await namePicture(tx, before.id, 'icon/large', firstOf(made)));
          return { realm: await publish(tx, before, name, true), replaced: blobs };
        }),
    );
    await this.pictures.discard(replaced);
    return realm;
  }
}

/** Restores the default image (organization §3). Has no effect without an uploaded image. */
export class RemoveRealmImage {
  static readonly inject = ['unitOfWork', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pictures: PictureMaker,
  ) {}

  /** Returns the updated organization. @throws DomainError MUST_BE_ADMINISTRATOR */
  async execute(caller: Caller, { name }: RealmImageInput): Promise<Realm> {
    const { realm, removed } = await this.uow.write(caller.realmId, async (tx) => {
      const before = await loadChangeable(tx, caller);
      if (!before.images[name].isUploaded) return { realm: before, removed: [] };
      const blobs = [await tx.pictures.remove(before.id, name)];
      if (name === 'icon') blobs.push(await tx.pictures.remove(before.id, 'icon/large'));
      return { realm: await publish(tx, before, name, false), removed: blobs };
    });
    await this.pictures.discard(removed);
    return realm;
  }
}

async function loadChangeable(
  { actors, realms }: Pick<Repositories, 'actors'> & { readonly realms: Pick<Repositories['realms'], 'get'> },
  caller: Caller,
): Promise<Realm> {
  enforce(canChangeBranding(await actors.get(caller)));
  return realms.get(caller.realmId);
}

async function publish(tx: Transaction, realm: Realm, name: RealmImageName, isUploaded: boolean): Promise<Realm> {
  const image = { isUploaded, version: realm.images[name].version + 1 };
  const changed = { ...realm, images: { ...realm.images, [name]: image } };
  await tx.realms.update(changed);
  await tx.events.append(realm.id, { event: { type: 'realm.image_changed', name, image }, audience: wholeRealm });
  return changed;
}

/** Returns the caller's organization with its icon and logos (organization §3). */
export class FindOwnRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId }: Caller): Promise<Realm> {
    return this.uow.read(realmId, ({ realms }) => realms.get(realmId));
  }
}
