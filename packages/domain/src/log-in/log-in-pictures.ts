import { MAX_IMAGE_MIB } from '../files/images.js';
import { PictureMaker } from '../files/pictures.js';
import { DomainError } from '../kernel/errors.js';
import { isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { ReportProblem } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { AVATAR_TARGETS, giveAvatar } from '../users/avatars.js';
import type { User } from '../users/user.js';
import { directoryMethod, type PeopleDirectory } from './directories.js';
import type { LinkedAccount, LinkedPicture } from './log-in-methods.js';

const MAX_PICTURE_BYTES = MAX_IMAGE_MIB * 1024 * 1024;
/** UTF-16 units. */
const MAX_ADDRESS_LENGTH = 2000;

/** Downloads pictures from URLs provided by services. */
export interface PictureDownloads {
  /** @throws Error if the address is not public, or the server refuses, is too slow or sends more than `maxBytes` */
  download(url: string, maxBytes: number): Promise<Uint8Array>;
}

interface PicturePayload {
  readonly userId: UserId;
  readonly method: string;
  /** Null for the picture in a directory. */
  readonly url: string | null;
}

function readPayload(stored: unknown): PicturePayload {
  const { userId, method, url } = stored as Partial<PicturePayload>;
  if (!isId(userId) || typeof method !== 'string') throw new TypeError('Job payload has no user id or log-in method');
  return { userId, method, url: url ?? null };
}

export const LOG_IN_PICTURE_JOB = jobKind<PicturePayload>({
  name: 'log_ins.fetch_picture',
  readPayload,
  leaseSeconds: 120,
  callsOthers: true,
  concurrency: 2,
});

/** True if the user has chosen no avatar other than the account's picture. */
const hasNoOther = ({ avatar }: User, picture: LinkedPicture | null): boolean =>
  avatar.source !== 'uploaded' || avatar.version === picture?.version;

const accountOf = async (
  { logIns }: Pick<Repositories, 'logIns'> | Pick<Transaction, 'logIns'>,
  { realmId, id }: Pick<User, 'realmId' | 'id'>,
  method: string,
): Promise<LinkedAccount | undefined> =>
  (await logIns.listLinked(realmId, id)).find((account) => account.method === method);

/** Schedules making an avatar from the account's picture after the log-in. `url`: null for a picture in a directory. */
export async function planPicture(
  tx: Transaction,
  user: User,
  { method, url, now }: { readonly method: string; readonly url: string | null; readonly now: UnixSeconds },
): Promise<void> {
  if (url !== null && (url.length > MAX_ADDRESS_LENGTH || !/^https?:\/\/[^/]/i.test(url))) return;
  const account = await accountOf(tx, user, method);
  if (!account || !hasNoOther(user, account.picture)) return;
  if (url !== null && url === account.picture?.source) return;
  const { id: userId, realmId } = user;
  const payload = { userId, method, url };
  await tx.jobs.schedule(encodeJob(LOG_IN_PICTURE_JOB, { realmId, dueAt: now, key: String(userId), payload }));
}

/** Makes avatars from account pictures. A picture that fails is retried at the next log-in. */
export class FetchLogInPictures implements JobHandler<PicturePayload> {
  static readonly inject = ['unitOfWork', 'peopleDirectories', 'pictureDownloads', 'report', PictureMaker] as const;

  readonly kind = LOG_IN_PICTURE_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly directories: readonly PeopleDirectory[],
    private readonly downloads: PictureDownloads,
    private readonly report: ReportProblem,
    private readonly pictures: PictureMaker,
  ) {}

  async prepare({ realmId, payload }: Job<PicturePayload>): Promise<JobWork> {
    const { userId, method, url } = payload;
    try {
      const account = await this.uow.read(realmId, (reads) => accountOf(reads, { realmId, id: userId }, method));
      if (account) await this.replace(realmId, account, url);
    } catch (err) {
      if (err instanceof DomainError && err.kind === 'unavailable') throw err;
      this.report('the picture of an account cannot be used', { err, method, realmId, userId }, 'warn');
    }
    return async () => {};
  }

  private async replace(realmId: RealmId, account: LinkedAccount, url: string | null): Promise<void> {
    const { userId, method, subject } = account;
    const directory = this.directories.find((it) => directoryMethod(it) === method);
    const found =
      url === null
        ? await directory?.findPicture(subject, MAX_PICTURE_BYTES)
        : { bytes: await this.downloads.download(url, MAX_PICTURE_BYTES), digest: url };
    if (!found || found.digest === account.picture?.source) return;
    const source = found.digest;
    const replaced = await this.pictures.make({ realmId, userId }, found.bytes, AVATAR_TARGETS, (made) =>
      this.uow.write(realmId, async (tx) => {
        const user = await tx.users.find(realmId, userId);
        const linked = await accountOf(tx, { realmId, id: userId }, method);
        // The user may choose an avatar or leave during the download.
        if (!user?.isActive || !linked || !hasNoOther(user, linked.picture)) return made.map(({ blob }) => blob);
        const changed = await giveAvatar(tx, user, made);
        await tx.logIns.link(realmId, { ...linked, picture: { source, version: changed.user.avatar.version } });
        return changed.replaced;
      }),
    );
    await this.pictures.discard(replaced);
  }
}
