import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { expect, type Page, type Request } from '@playwright/test';

const BUILT = join(import.meta.dirname, '../gallery/dist');
/** Nothing listens there: files are served from the folder. */
const ADDRESS = 'http://localhost:9/';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const POLICY = `default-src 'self'; img-src 'self' data:; connect-src 'self' data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types parley-content parley-worker`;

/** Open gallery page. */
export interface Gallery {
  readonly page: Page;
  /** Console errors, policy violations and requests to other hosts. */
  readonly complaints: readonly string[];
  /** Waits until nothing loads or changes. */
  settle(): Promise<void>;
}

/** @throws Error if the gallery is not built. */
export async function openGallery(page: Page): Promise<Gallery> {
  if (!existsSync(BUILT)) throw new Error('Run `npx vite build packages/clients/web/gallery` first');
  const complaints: string[] = [];
  const loading = new Set<Request>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('request', (request) => loading.add(request));
  page.on('requestfinished', (request) => loading.delete(request));
  page.on('requestfailed', (request) => loading.delete(request));
  await page.route('**', (route) => {
    const { pathname, origin } = new URL(route.request().url());
    const file = join(BUILT, pathname === '/' ? 'index.html' : pathname);
    if (pathname.startsWith('/user_uploads/')) return route.fulfill({ contentType: 'audio/mpeg' });
    if (`${origin}/` !== ADDRESS || !existsSync(file)) {
      complaints.push(`request for ${route.request().url()}`);
      return route.abort();
    }
    return route.fulfill({
      body: readFileSync(file),
      headers: { 'Content-Security-Policy': POLICY },
      contentType: TYPES[extname(file)] ?? 'application/octet-stream',
    });
  });
  await page.goto(ADDRESS);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const settle = () =>
    expect(async () => {
      await untilUnchanged(page);
      expect(loading.size).toBe(0);
    }).toPass({ timeout: 60_000 });
  return { page, complaints, settle };
}

/** Waits until the page has not changed for 100 ms. */
const untilUnchanged = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let timer: number | undefined;
        const wait = () => {
          clearTimeout(timer);
          timer = window.setTimeout(() => {
            observer.disconnect();
            resolve();
          }, 100);
        };
        const observer = new MutationObserver(wait);
        observer.observe(document.body, { attributes: true, characterData: true, childList: true, subtree: true });
        wait();
      }),
  );

/** Opens a section of the gallery and waits until it has loaded. */
export async function openSection({ page, settle }: Gallery, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Gallery' }).getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { name: `Gallery: ${name}` })).toBeVisible();
  await settle();
}

export const setTheme = (page: Page, to: string) =>
  page.evaluate((theme) => {
    document.documentElement.dataset.theme = theme;
  }, to);
