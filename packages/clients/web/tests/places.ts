import { join } from 'node:path';
import type { Page, Request } from '@playwright/test';
import { expect, goTo, type Server, violationsIn } from './stories.js';

/** Widths of a small phone, a tablet and a desktop. */
export const WIDTHS = [320, 768, 1440];

/** Time without calls after which a place counts as loaded. */
const QUIET_MS = 150;

/** Folder for screenshots; none are taken if unset. */
const SCREENSHOTS = process.env.SCREENSHOTS;

/** True to take pictures in every theme and width. */
export const TAKES_PICTURES = SCREENSHOTS !== undefined;

/** Addresses of the application by name. */
export async function placesOf(server: Server): Promise<Readonly<Record<string, string>>> {
  const { stream_id: channel } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'Denmark' });
  const { user_groups: groups } = await server.call('iago', 'GET', '/user_groups');
  const { id: group } = groups.find(({ name }: { name: string }) => name === 'role:members');
  const { members } = await server.call('iago', 'GET', '/users');
  const iago = members.find(({ full_name }: { full_name: string }) => full_name === 'Iago').user_id;
  return {
    inbox: '#inbox',
    recent: '#recent',
    feed: '#feed',
    channel: `#narrow/channel/${channel}-Denmark`,
    topic: `#narrow/channel/${channel}-Denmark/topic/ghost.20sightings`,
    'new topic': `#narrow/channel/${channel}-Denmark/topic/nothing.20here.20yet`,
    direct: `#narrow/dm/${iago}-Iago`,
    starred: '#narrow/is/starred',
    mentions: '#narrow/is/mentioned',
    drafts: '#drafts',
    scheduled: '#scheduled',
    reminders: '#reminders',
    search: '#narrow/search/bridge',
    'nothing found': '#narrow/search/xyzzyplugh',
    unknown: '#nowhere',
    channels: '#channels/all',
    'new channel': '#channels/new',
    'channel settings': `#channels/${channel}/Denmark/general`,
    'channel permissions': `#channels/${channel}/Denmark/permissions`,
    subscribers: `#channels/${channel}/Denmark/subscribers`,
    groups: '#groups/all',
    group: `#groups/${group}/group/general`,
    'group members': `#groups/${group}/group/members`,
    settings: '#settings',
    ...Object.fromEntries(
      ['profile', 'account-and-privacy', 'preferences', 'notifications', 'sessions', 'your-bots'].map((key) => [
        `settings ${key}`,
        `#settings/${key}`,
      ]),
    ),
    ...Object.fromEntries(
      [
        ...['organization-profile', 'organization-settings', 'organization-permissions', 'auth-methods', 'users'],
        ...[
          'invitations',
          'integrations',
          'emoji-settings',
          'linkifier-settings',
          'profile-field-settings',
          'default-channels-list',
        ],
        ...['default-channel-groups', 'organization-level-user-defaults', 'data-exports-admin', 'imports', 'audit-log'],
      ].map((key) => [`organization ${key}`, `#organization/${key}`]),
    ),
  };
}

/** Opens a place and waits until it has loaded. */
export async function open(page: Page, place: string): Promise<void> {
  const pending = new Set<Request>();
  let changedAt = Date.now();
  const begin = (request: Request) => {
    if (request.url().includes('/events')) return;
    pending.add(request);
    changedAt = Date.now();
  };
  const end = (request: Request) => {
    if (pending.delete(request)) changedAt = Date.now();
  };
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
  await goTo(page, place);
  await expect(page.getByText('Loading…')).toHaveCount(0);
  // Lazily loaded parts render after the network is idle.
  await expect
    .poll(() => pending.size === 0 && Date.now() - changedAt > QUIET_MS, { intervals: [QUIET_MS] })
    .toBe(true);
  page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
}

/**
 * Finds texts that are not fully readable: clipped by their box, or outside the page. Also finds texts without the
 * chat's font.
 */
const faultsIn = (page: Page, within: string): Promise<readonly string[]> =>
  page.evaluate((part) => {
    const found: string[] = [];
    const fontOfBrowser = getComputedStyle(document.documentElement).fontFamily;
    const scrolls = (element: Element | null): boolean => {
      if (element === null) return false;
      const { overflowX } = getComputedStyle(element);
      return overflowX === 'auto' || overflowX === 'scroll' || scrolls(element.parentElement);
    };
    for (const element of document.querySelectorAll<HTMLElement>(`:is(${part}), :is(${part}) *`)) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent!.trim() !== '');
      const box = element.getBoundingClientRect();
      if (!hasText || box.width < 2 || box.height < 2 || !element.checkVisibility()) continue;
      const { overflowX, textOverflow, position, fontFamily } = getComputedStyle(element);
      const name = `${element.tagName.toLowerCase()} "${element.textContent!.trim().slice(0, 40)}"`;
      if (fontFamily === fontOfBrowser) found.push(`${name} has the font of the browser`);
      const isHidden = overflowX === 'hidden' || overflowX === 'clip';
      if (isHidden && textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1)
        found.push(`${name} is cut off`);
      const isMenu = box.right <= 0 || position === 'fixed';
      if (!isMenu && box.left < innerWidth && box.right > innerWidth + 1 && !scrolls(element)) {
        found.push(`${name} ends beside the page`);
      }
    }
    return found;
  }, within);

const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

interface Checks {
  /** axe rules or tags; default: all, null: none. */
  readonly axe?: readonly string[] | null;
  /** Part with the texts checked, also by axe. */
  readonly within?: string;
  /** True to include content below the window in the picture. */
  readonly isWhole?: boolean;
}

/** Checks the current state of a place, and takes a picture if requested. */
export async function check(
  page: Page,
  name: string,
  { axe = [], within = 'html', isWhole = false }: Checks = {},
): Promise<void> {
  if (SCREENSHOTS !== undefined)
    await takePicture(page, join(SCREENSHOTS, `${name.replaceAll(/[ ,]+/g, '-')}.png`), isWhole);
  // Cards and menus move shortly after a width change.
  const soft = expect.configure({ soft: true });
  await soft.poll(() => overflowOf(page), `${name} scrolls sideways`).toBeLessThanOrEqual(0);
  await soft.poll(() => faultsIn(page, within), name).toEqual([]);
  if (axe !== null) expect.soft(await violationsIn(page, axe, within), name).toEqual([]);
}

async function takePicture(page: Page, path: string, isWhole: boolean): Promise<void> {
  const { width, height } = page.viewportSize()!;
  // Full-page pictures stay empty below the window.
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  if (isWhole) await page.setViewportSize({ width, height: Math.min(whole, 16_000) });
  await page.screenshot({ path });
  await page.setViewportSize({ width, height });
}
