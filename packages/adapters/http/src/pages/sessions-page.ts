import type { Session } from '@parley/domain/access';
import type { SessionId } from '@parley/domain/kernel';
import { FindServiceLogOut } from '@parley/domain/log-in';
import { RegenerateApiKey } from '@parley/domain/membership';
import { EndUserSessions, ListUserSessions, LogOut, type UserLogIns } from '@parley/domain/users';
import type { Route } from '../declarations/route.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { LogInChange, Reply } from '../wire/reply.js';
import { type Html, html } from './html.js';
import { type PageParts, pageReply, pageRoute, redirectTo, type Site, seeOther, type Visit } from './layout.js';

const PATH = '/accounts/sessions/';
const KEY = 'key';
const OTHERS = 'others';

/** `end`: a session id, `others` for all sessions except the current one, or `key` to revoke the API key. */
class EndDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) end = '';
}

/** Logged-in user who visits a page; null if nobody is logged in. */
function visitorOf({
  realm,
  caller: { clientName },
  identity,
}: Pick<Visit<object, never>, 'realm' | 'caller' | 'identity'>) {
  if (identity?.realmId !== realm.id) return null;
  const { session, userId } = identity;
  return { realmId: realm.id, userId, clientName, ...(session && { sessionId: session.id }) };
}

/** Page that lists sessions and ends them. */
export const sessionPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', PATH, {
    dto: NoParameters,
    knowsCaller: true,
    useCase: ListUserSessions,
    handle: async (visit) => {
      const { site, useCase } = visit;
      const visitor = visitorOf(visit);
      if (!visitor) return toLogIn(site);
      return listPage(site, await useCase.execute(visitor, visitor.userId), visitor.sessionId);
    },
  }),
  pageRoute(parts, 'POST', PATH, {
    dto: EndDto,
    knowsCaller: true,
    useCase: EndUserSessions,
    handle: async (visit) => {
      const {
        site,
        request,
        dto: { end },
        useCase,
        resolve,
      } = visit;
      const visitor = visitorOf(visit);
      if (!visitor) return toLogIn(site);
      const { userId, sessionId: own } = visitor;
      const { owner } = await resolve(ListUserSessions).execute(visitor, userId);
      const ended = (method: LogInChange['method'], change: LogInChange['change'], reply = seeOther(site, PATH)) => ({
        ...reply,
        logInChange: { account: owner.email, method, change },
      });
      if (end === KEY) {
        await resolve(RegenerateApiKey).execute(visitor);
        return ended('api key', 'replaced');
      }
      if (own !== undefined && end === String(own)) {
        const method = await resolve(LogOut).execute(visitor);
        const url = await resolve(FindServiceLogOut).execute(visitor, method);
        const headers = parts.sessionCookies.end(request);
        return ended(
          'session',
          'ended',
          url ? loggedOut(site, url, headers) : redirectTo(`${site.base}/login/`, headers),
        );
      }
      if (end !== OTHERS && !/^\d{1,15}$/.test(end)) return seeOther(site, PATH);
      const one = end === OTHERS ? {} : { sessionId: Number(end) as SessionId };
      const count = await useCase.execute(visitor, { userId, ...one });
      return count === 0 ? seeOther(site, PATH) : ended('session', 'ended');
    },
  }),
];

/** Offers log-out from a service by a link, because the policy does not allow a form to redirect there. */
const loggedOut = (site: Site, url: string, headers: readonly string[]): Reply =>
  pageReply({
    title: site.t('You are logged out'),
    site,
    headers,
    content: html`<p>${site.t('You are still logged in at the service through which you logged in here.')}</p>
<p><a class="button" href="${url}">${site.t('Log out there too')}</a></p>`,
  });

const toLogIn = (site: Site): Reply => seeOther(site, `/login/?${new URLSearchParams({ next: site.base + PATH })}`);

const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/Zulip/, 'Zulip'],
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

/** Names the browser and system of a user agent; unknown ones are shown unchanged. */
function browserName(userAgent: string): string {
  const [program, system] = [PROGRAMS, SYSTEMS].map((names) => names.find(([pattern]) => pattern.test(userAgent))?.[1]);
  return [program, system].filter((name) => name !== undefined).join(', ') || userAgent;
}

function listPage(site: Site, { owner, sessions, keyIssue }: UserLogIns, own: SessionId | undefined): Reply {
  const { t, base, language } = site;
  const { timezone } = owner.settings;
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: timezone === '' ? 'UTC' : timezone,
  });
  const timeOf = (seconds: number) => format.format(seconds * 1000);
  const button = (end: string, label: Html, isWide = false) => html`<form method="post" action="${base}${PATH}">
<input type="hidden" name="end" value="${end}"><button class="${isWide ? 'wide other' : 'other'}">${label}</button></form>`;
  const row = ({ id, userAgent, ip, createdAt, lastUsedAt }: Session) => html`<li><div>
<strong>${browserName(userAgent) || t('Unknown browser')}</strong>${id === own && html` ${t('(this browser)')}`}
<p class="hint">${
    ip === null
      ? t('Logged in: {time}', { time: timeOf(createdAt) })
      : t('Logged in: {time}, from {address}', { time: timeOf(createdAt), address: ip })
  }<br>${t('Last used: {time}', { time: timeOf(lastUsedAt) })}</p>
</div>${button(String(id), t('Log out'))}</li>
`;
  const issued = keyIssue && {
    time: timeOf(keyIssue.at),
    place: [keyIssue.clientName, keyIssue.ip].filter(Boolean).join(', ') || '–',
  };
  return pageReply({
    title: t('Where you are logged in'),
    site,
    content: html`<h2>${t('Browsers and desktop apps')}</h2>
${sessions.length === 0 && html`<p>${t('None.')}</p>`}<ul class="factors">
${sessions.map(row)}</ul>
${sessions.some(({ id }) => id !== own) && button(OTHERS, t('Log out everywhere else'), true)}
<h2>${t('Phones, terminals and programs')}</h2>
<p>${t('They share your API key. A new key logs all of them out, and all other browsers.')}</p>
<p>${issued ? t('Last log-in: {time}, {place}', issued) : t('Nobody has logged in with this key yet.')}</p>
${button(KEY, t('Make a new API key'), true)}
<p><a href="${base}/accounts/second-factor/">${t('Second factor')}</a></p>
<p><a href="${base}/">${t('Go to the start page')}</a></p>`,
  });
}
