import { endWebPush } from '../push/web-push.js';
import { registerWorker } from '../push/worker.js';

/** Cache of the page and files of the build with this script. */
const filesOf = (script: string): string => `parley-app ${script}`;
/** See `service-worker.ts`. */
const sharedOf = (baseUrl: string): string => `parley-shared ${baseUrl}`;

const isSupported = (): boolean => navigator.serviceWorker !== undefined && 'caches' in globalThis;

/** Keeps the page and the files that it loads, so that it starts without a connection. */
export async function keepForOffline(baseUrl: string): Promise<void> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src;
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
    // Files that fail to load are kept the next time.
    for (const entry of list.getEntries()) keep(entry).catch(() => {});
  }).observe({ type: 'resource', buffered: true });
}

/** Removes what the device keeps, shows and receives for the user, on logout. */
export async function forgetDevice(baseUrl: string): Promise<void> {
  await endWebPush();
  void navigator.clearAppBadge?.().catch(() => {});
  await forgetPage(baseUrl);
  if (isSupported()) await caches.delete(sharedOf(baseUrl));
}

/** Removes the kept page and its files. */
export async function forgetPage(baseUrl: string): Promise<void> {
  if (isSupported()) await forgetBuilds(baseUrl);
}

/** Removes the kept pages and files of all builds, or of others than one. */
async function forgetBuilds(baseUrl: string, except = ''): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(filesOf(`${baseUrl}web/`)) && name !== except) await caches.delete(name);
  }
}

export interface Shared {
  readonly text: string;
  readonly files: readonly File[];
}

/** Returns what another application has shared, once; null without anything. */
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
