import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExternalPictures } from '@parley/domain/files';
import { type Clock, WorkQueue } from '@parley/domain/kernel';
import type { PagePreview } from '@parley/domain/markdown';
import type { LinkPreviewFetcher } from '@parley/domain/writing';
import { ResultCache } from './result-cache.js';
import type { PublicWebClient } from './web-client.js';

/** Maximum number of bytes read of a page; its head is usually shorter. */
const MAX_PAGE_BYTES = 1024 * 1024;
/** Number of bytes parsed in one turn of the event loop, which takes a few milliseconds even for hostile pages. */
const PIECE = 8 * 1024;
const HTML = /^(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const HOUR_SECONDS = 3600;
/** Time after which a page without a preview is requested again. */
const RETRY_SECONDS = 600;
/** Approximate size of a cache entry without its texts. */
const ENTRY_BYTES = 500;

/** Reads previews from the heads of web pages: Open Graph, title and description. */
export class WebLinkPreviewFetcher implements LinkPreviewFetcher {
  private readonly cache: ResultCache<PagePreview | null>;
  private readonly parsing = new WorkQueue({ concurrency: 1 });

  constructor(
    private readonly client: PublicWebClient,
    private readonly pictures: ExternalPictures,
    clock: Pick<Clock, 'nowMs'>,
  ) {
    this.cache = new ResultCache(clock, {
      maxCount: 2000,
      maxBytes: 8 * 1024 * 1024,
      bytesOf: (page) => ENTRY_BYTES + 2 * lengthOf(page),
      secondsOf: (page) => (page ? HOUR_SECONDS : RETRY_SECONDS),
    });
  }

  fetch(url: string): Promise<PagePreview | null> {
    // Servers never see the fragment.
    const key = url.replace(/#.*/, '');
    return this.cache.get(key, () => this.readWithPicture(key).catch(() => null));
  }

  private async readWithPicture(link: string): Promise<PagePreview | null> {
    const page = await this.read(link);
    if (!page || page.picture === null) return page;
    // A busy server may load it later. Without a readable one, clients would show an empty box.
    const picture = await this.pictures.load(page.picture).catch(() => page.picture);
    return picture === null ? { ...page, picture: null } : page;
  }

  private async read(link: string): Promise<PagePreview | null> {
    const { url, status, headers, body } = await this.client.get(link, 'text/html,application/xhtml+xml');
    try {
      const type = headers['content-type'] ?? '';
      if (status !== 200 || !HTML.test(type)) return null;
      const { HtmlHead } = await import('./html-head.js');
      const head = new HtmlHead(url, type);
      let length = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length && !head.isDone; at += PIECE) {
          await this.parsing.run(null, () => {
            head.write(chunk.subarray(at, at + PIECE));
            return nextTurn();
          });
        }
        length += chunk.length;
        if (head.isDone || length > MAX_PAGE_BYTES) break;
      }
      return head.preview();
    } finally {
      body.destroy();
    }
  }
}

const lengthOf = (page: PagePreview | null): number =>
  page ? [page.title, page.description, page.picture].reduce((sum, text) => sum + (text?.length ?? 0), 0) : 0;
