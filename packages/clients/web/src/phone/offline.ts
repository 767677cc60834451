import { endWebPush } from '../push/web-push.js';
import { registerWorker } from '../push/worker.js';

/** Name of the cache with the page and files of the build that has this application script. */
const filesOf = (script: string): string => `parley-app ${script}`;
/** Name of the cache in which `service-worker.ts` puts shared texts and files. */
const sharedOf = (baseUrl: string): string => `parley-shared ${baseUrl}`;

const isSupported = (): boolean => navigator.serviceWorker !== undefined && 'caches' in globalThis;

/** Caches the page and the files that it loads, so that it starts offline. */
export async function keepForOffline(baseUrl: string): Promise<void> {
  // Preceding scripts have the same name in every build.
  const script = [...document.querySelectorAll<HTMLScriptElement>('script[type="module"][src]')].at(-1)?.src;
  if (!isSupported() || !script) return;
  await registerWorker(baseUrl);
  await forgetBuilds(baseUrl, filesOf(script));
  const cache = await caches.open(filesOf(script));
  const page = await fetch(baseUrl);
  const html = await page.clone().text();
  // The server may have a newer build by now, or have ended the session.
  if (page.ok && html.includes(new URL(script).pathname)) await cache.put(baseUrl, page);
  const keep = async ({ name }: PerformanceEntry) => {
    const isFile = name.startsWith(`${baseUrl}web/`) && /-[\w-]+\.(js|css|woff2)$/.test(name);
    if (isFile && !(await cache.match(name))) await cache.add(name);
  };
  new PerformanceObserver((list) => {
    // Files that fail to load are cached at the next start.
    for (const entry of list.getEntries()) keep(entry).catch(() => {});
  }).observe({ type: 'resource', buffered: true });
}

/** Deletes the user's push subscription, badge and caches on logout. */
export async function forgetDevice(baseUrl: string): Promise<void> {
  await endWebPush();
  // Some browsers allow a badge only for installed pages.
  void navigator.clearAppBadge?.().catch(() => {});
  await forgetPage(baseUrl);
  if (isSupported()) await caches.delete(sharedOf(baseUrl));
}

/** Deletes the cached page and its files. */
export async function forgetPage(baseUrl: string): Promise<void> {
  if (isSupported()) await forgetBuilds(baseUrl);
}

/** Deletes the caches of all builds, or of all but one. */
async function forgetBuilds(baseUrl: string, except = ''): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(filesOf(`${baseUrl}web/`)) && name !== except) await caches.delete(name);
  }
}

export interface Shared {
  readonly text: string;
  readonly files: readonly File[];
}

/** Returns and deletes the content shared by another application; null if there is none. */
export async function takeShared(baseUrl: string): Promise<Shared | null> {
  const name = sharedOf(baseUrl);
  if (!isSupported() || !(await caches.has(name))) return null;
  const cache = await caches.open(name);
  const files: File[] = [];
  let text = '';
  for (const request of await cache.keys()) {
    const response = await cache.match(request);
    const fileName = response?.headers.get('X-Name');
    if (!response) continue;
    if (fileName === null || fileName === undefined) text = await response.text();
    else files.push(new File([await response.blob()], decodeURIComponent(fileName)));
  }
  await caches.delete(name);
  return { text, files };
}
