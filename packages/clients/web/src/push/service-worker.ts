/**
 * Notifications while no page of the chat is open, offline starts, and files shared by other applications.
 * A classic script, so it must not import values.
 */

/** Push message for one notification (docs/notifications.md). */
interface Push {
  readonly user_id: number;
  readonly time: number;
  readonly title: string;
  readonly body: string;
  readonly icon?: string;
  readonly tag?: string;
  readonly message_id?: number;
  readonly channel_id?: number;
  readonly topic?: string;
  readonly user_ids?: readonly number[];
}

/** Request to a page, which responds with `true` if it handles the notification. */
export type PageQuestion =
  | { readonly kind: 'push'; readonly userId: number }
  | { readonly kind: 'open'; readonly userId: number; readonly hash: string };

/** Data attached to a visible notification. */
export interface NotificationData {
  readonly userId: number;
  readonly messageId: number | null;
  /** Address of the message within the page. */
  readonly hash: string;
}

/** Used subset of `ServiceWorkerGlobalScope`; TypeScript's types for pages and workers exclude each other. */
interface WorkerScope {
  readonly location: Location;
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: object): Promise<readonly PageClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void;
}

interface ShownNotification extends Notification {
  readonly data: NotificationData;
}

interface WorkerEvent extends Event {
  readonly data: { json(): Push } | null;
  readonly notification: ShownNotification;
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

interface PageClient {
  readonly url: string;
  readonly focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: PageQuestion, transfer: readonly Transferable[]): void;
}

const worker = self as unknown as WorkerScope;
/** Organization URL: this file is in a subfolder of it. */
const baseUrl = new URL('..', worker.location.href).href;
/** A frozen page does not respond. */
const RESPONSE_MS = 1000;
/** Maximum number of visible notifications to check when a new one arrives. */
const MAX_LOOKED_AT = 100;
/** See `notifications.ts`. */
const LOCK = 'parley-notifications';
/** API prefixes, for chat sessions and for log-ins of a host application. */
const APIS = ['json', 'api/v1'];

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('fetch', (event) => {
  const response = responseTo(event.request);
  if (response) event.respondWith(response);
});
worker.addEventListener('push', (event) => {
  if (event.data) event.waitUntil(receive(event.data.json()));
});
worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** Name of the cache from which `offline.ts` takes shared texts and files. */
const SHARED = `parley-shared ${baseUrl}`;
const MAX_SHARED_FILES = 20;

/** Response to a request for the page or its files; null for others. */
function responseTo(request: Request): Promise<Response> | null {
  const [address] = request.url.split('#') as [string];
  if (request.mode === 'navigate' && address === baseUrl) {
    if (request.method !== 'POST') return pageOrKept(request);
    return isForeign(request) ? Promise.resolve(Response.redirect(baseUrl, 303)) : takeShared(request);
  }
  const isFile = request.method === 'GET' && address.startsWith(`${baseUrl}web/`) && /\.(js|css|woff2)$/.test(address);
  return isFile ? caches.match(request, { ignoreVary: true }).then((kept) => kept ?? fetch(request)) : null;
}

/** Returns the page from the server, or the cached page while the server is unreachable. */
async function pageOrKept(request: Request): Promise<Response> {
  const response = await fetch(request).catch(() => null);
  // The server redirects to the log-in page, so no page of the application may notice the end of the session.
  if (response?.type === 'opaqueredirect') await forget();
  if (response && response.status < 500) return response;
  return (await caches.match(baseUrl)) ?? response ?? Response.error();
}

/** Deletes the cached page (see `offline.ts`) and the database of `idb-cache.ts`. */
async function forget(): Promise<void> {
  indexedDB.deleteDatabase(`parley ${baseUrl}`);
  for (const name of await caches.keys()) {
    if (name.startsWith(`parley-app ${baseUrl}web/`)) await caches.delete(name);
  }
}

/**
 * True for a form that another site submitted. Applications have no address of the web. Neither have sites that send no
 * referrer, which browsers do not distinguish from applications.
 */
const isForeign = ({ referrer }: Request): boolean =>
  /^https?:/.test(referrer) && new URL(referrer).origin !== worker.location.origin;

/** Caches a text and files shared by another application for the page that opens. */
async function takeShared(request: Request): Promise<Response> {
  const form = await request.formData();
  const lines = ['title', 'text', 'url'].map((name) => form.get(name)).filter(Boolean);
  const files = form.getAll('files').slice(0, MAX_SHARED_FILES);
  await caches.delete(SHARED);
  const cache = await caches.open(SHARED);
  await cache.put(`${baseUrl}shared/text`, new Response(lines.join('\n')));
  for (const [index, file] of files.entries()) {
    if (!(file instanceof File)) continue;
    const headers = { 'Content-Type': file.type, 'X-Name': encodeURIComponent(file.name) };
    await cache.put(`${baseUrl}shared/${index}`, new Response(file, { headers }));
  }
  return Response.redirect(baseUrl, 303);
}

async function receive(push: Push): Promise<void> {
  await show(push);
  // If the server is unreachable, the notifications stay visible.
  await closeRead(push).catch(() => {});
}

/** Closes notifications of messages read elsewhere. Browsers allow no push that only closes notifications. */
async function closeRead({ user_id: userId, message_id: newId }: Push): Promise<void> {
  const all = await navigator.locks.request(LOCK, () => worker.registration.getNotifications());
  const shown = (all as readonly ShownNotification[])
    .filter(({ data }) => data.userId === userId && data.messageId !== null && data.messageId !== newId)
    .slice(-MAX_LOOKED_AT);
  if (shown.length === 0) return;
  const query = new URLSearchParams({
    msg_ids: JSON.stringify(shown.map(({ data }) => data.messageId)),
    narrow: JSON.stringify([{ operator: 'is', operand: 'unread' }]),
  });
  for (const api of APIS) {
    const response = await fetch(`${baseUrl}${api}/messages/matches_narrow?${query}`, { cache: 'no-store' });
    if (!response.ok) continue;
    const { messages: unread } = (await response.json()) as { readonly messages: object };
    for (const notification of shown) if (!(String(notification.data.messageId) in unread)) notification.close();
    return;
  }
}

/** Shows a notification, unless a focused page handles it. */
async function show(push: Push): Promise<void> {
  const { user_id: userId, time, title, body, icon, tag, message_id: messageId = null } = push;
  for (const page of await pages()) {
    if (messageId !== null && page.focused && (await deals(page, { kind: 'push', userId }))) return;
  }
  const data: NotificationData = { userId, messageId, hash: hashOf(push) };
  const options = { body, data, ...(icon !== undefined && { icon }), ...(tag !== undefined && { tag }) };
  const timed = { ...options, timestamp: time * 1000 } as NotificationOptions;
  await navigator.locks.request(LOCK, { mode: 'shared' }, () => worker.registration.showNotification(title, timed));
}

/** Shows the message in an open page, or opens a page. */
async function open({ userId, hash }: NotificationData): Promise<void> {
  for (const page of await pages()) {
    if (await deals(page, { kind: 'open', userId, hash })) {
      await page.focus();
      return;
    }
  }
  await worker.clients.openWindow(baseUrl + hash);
}

async function pages(): Promise<readonly PageClient[]> {
  const all = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  return all.filter(({ url }) => url.startsWith(baseUrl));
}

function deals(page: PageClient, question: PageQuestion): Promise<boolean> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data === true);
    setTimeout(() => resolve(false), RESPONSE_MS);
    page.postMessage(question, [port2]);
  });
}

/** Formats an address as Zulip's client does. */
function hashOf({ user_id: selfId, message_id, channel_id, topic, user_ids }: Push): string {
  if (message_id === undefined) return '';
  const place =
    channel_id === undefined
      ? `dm/${user_ids?.filter((id) => id !== selfId).join(',')}`
      : `channel/${channel_id}/topic/${encode(topic ?? '')}`;
  return `#narrow/${place}/near/${message_id}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[%().]/g, (sign) =>
    sign === '%' ? '.' : `.${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
