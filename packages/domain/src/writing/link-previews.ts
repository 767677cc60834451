import type { ExternalPicturePaths } from '../files/external-pictures.js';
import type { MessageId, RealmId, UnixSeconds } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { PagePreview, RenderedMessages } from '../markdown/markdown.js';
import type { Message } from '../messages/message.js';
import { showRerendered } from '../messages/message-files.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';

/** Reads previews from the metadata of web pages. */
export interface LinkPreviewFetcher {
  /**
   * Returns the page's preview with the absolute URL of its picture, if that can be read; null if there is nothing to
   * show or the page cannot be read. Never rejects. Results are cached.
   */
  fetch(url: string): Promise<PagePreview | null>;
}

/** A type, since `idPayload` requires an index signature. */
type PreviewPayload = { readonly messageId: MessageId };

export const LINK_PREVIEW_JOB = jobKind<PreviewPayload>({
  name: 'messages.preview_links',
  readPayload: idPayload('messageId'),
  // Longer than all requests for one message.
  leaseSeconds: 60,
  callsOthers: true,
});

/** Maximum number of waiting messages per sender; new messages replace older ones. */
const MAX_WAITING = 50;
/** Maximum number of pages fetched for a message. */
export const MAX_PREVIEWS = 5;

/** Plans previews of the pages linked in a new or edited message (markdown §15.6). */
export async function planLinkPreviews(
  tx: Transaction,
  realm: Realm,
  sender: User,
  messageId: MessageId,
  html: string,
  now: UnixSeconds,
): Promise<void> {
  if (!realm.settings.inlineUrlEmbedPreview || sender.bot !== null || !html.includes('<a href="http')) return;
  const key = `${sender.id}:${messageId % MAX_WAITING}`;
  await tx.jobs.schedule(encodeJob(LINK_PREVIEW_JOB, { realmId: realm.id, dueAt: now, key, payload: { messageId } }));
}

const NOTHING_TO_SHOW: JobWork = async () => {};

/** Adds previews of linked pages to a message, unless its text changes first (markdown §15.6). */
export class PreviewLinks implements JobHandler<PreviewPayload> {
  static readonly inject = [
    'unitOfWork',
    'renderedMessages',
    'linkPreviewFetcher',
    'externalPicturePaths',
    'realmUrls',
    'clock',
  ] as const;

  readonly kind = LINK_PREVIEW_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly rendered: RenderedMessages,
    private readonly fetcher: LinkPreviewFetcher,
    private readonly pictures: ExternalPicturePaths,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload: { messageId } }: Job<PreviewPayload>): Promise<JobWork> {
    const { message, realm } = await this.uow.read(realmId, async ({ messages, realms }) => ({
      message: await messages.find(realmId, messageId),
      realm: await realms.get(realmId),
    }));
    if (!message || !realm.settings.inlineUrlEmbedPreview) return NOTHING_TO_SHOW;
    const links = this.rendered.previewableLinks(message.renderedContent, this.realmUrls.urlOf(realm));
    const previews = await this.fetchAll(links.slice(0, MAX_PREVIEWS));
    return previews.size === 0 ? NOTHING_TO_SHOW : (tx) => this.show(tx, realmId, message, previews);
  }

  private async fetchAll(links: readonly string[]): Promise<ReadonlyMap<string, PagePreview>> {
    const pages = await Promise.all(links.map((url) => this.fetcher.fetch(url)));
    const previews = new Map<string, PagePreview>();
    for (const [index, page] of pages.entries()) {
      if (!page) continue;
      const picture = page.picture === null ? null : this.pictures.pathOf(page.picture);
      previews.set(links[index]!, { ...page, picture });
    }
    return previews;
  }

  private async show(
    tx: Transaction,
    realmId: RealmId,
    { id, content }: Message,
    previews: ReadonlyMap<string, PagePreview>,
  ): Promise<void> {
    const message = await tx.messages.find(realmId, id);
    if (message?.content !== content || !(await tx.realms.get(realmId)).settings.inlineUrlEmbedPreview) return;
    const channel = message.channelId === null ? null : await tx.channels.find(realmId, message.channelId);
    const html = this.rendered.showPreviews(message.renderedContent, previews);
    await showRerendered(tx, message, channel, html, this.clock.now());
  }
}
