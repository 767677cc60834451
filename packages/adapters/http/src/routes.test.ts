import type { RouteDependencies } from './declarations/feature.js';
import type { Route } from './declarations/route.js';
import { membersOfDto, parse } from './params/params.js';
import { createRoutes } from './routes.js';
import { Parameters, type Request } from './wire/request.js';

/** Only requests use the dependencies, so none are needed here. */
const routes = createRoutes({} as RouteDependencies);
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

describe('route table', () => {
  it('lists each operation once', () => {
    const names = routes.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['reloads a page that a busy server refused', 'GET', 503, true],
    ['does not reload a missing page', 'GET', 404, false],
    ['does not resend a form that a busy server refused', 'POST', 503, false],
  ])('%s', async (_, method, status, isLoadedAgain) => {
    const page = routes.find((each) => each.method === method && each.path === '/login/')!;
    const request = { header: () => undefined } as unknown as Request;
    const { headers } = await page.errorPage!({ status, message: 'No', headers: [] }, request);
    expect(headers!.includes('Refresh')).toBe(isLoadedAgain);
  });

  it('requires authentication except for log-in, spectators, public responses and pages', () => {
    expect(
      routes
        .filter(({ auth, errorPage }) => auth === 'anyone' && !errorPage)
        .map(nameOf)
        .sort(),
    ).toEqual([
      'GET /accounts/csrf_token/',
      'GET /accounts/login/',
      'GET /accounts/passkeys.js',
      'GET /api/',
      'GET /compatibility',
      'GET /dev_list_users',
      'GET /external_content/:signature/:encoded_url',
      'GET /json/messages',
      'GET /json/messages/:message_id',
      'GET /json/realm/subdomain/:subdomain',
      'GET /json/users',
      'GET /json/users/me/:stream_id/topics',
      'GET /openapi.json',
      'GET /server_settings',
      'GET /static/emoji/emoji_api.json',
      'GET /static/generated/emoji/images/emoji/unicode/zulip.png',
      'GET /user_avatars/:realm_id/:file',
      'GET /user_avatars/:realm_id/emoji/images/:file',
      'GET /user_avatars/:realm_id/emoji/images/still/:file',
      'GET /user_avatars/:realm_id/realm/icon.png',
      'GET /user_avatars/:realm_id/realm/logo.png',
      'GET /user_avatars/:realm_id/realm/night_logo.png',
      'GET /user_avatars/exports/*path_id',
      'GET /user_uploads/temporary/:token/:name',
      'GET /web/:file',
      'POST /accounts/login/',
      'POST /dev_fetch_api_key',
      'POST /fetch_api_key',
      'POST /incoming_email',
      'POST /invites/accept',
      'POST /json/register',
      'POST /jwt/fetch_api_key',
    ]);
  });

  it('allows incoming-webhook bots only to send messages', () => {
    expect(routes.filter(({ allowsWebhookBots }) => allowsWebhookBots).map(nameOf)).toEqual([
      'POST /external/:integration',
      'GET /external/:integration',
      'POST /messages',
    ]);
  });
});

describe('route DTO', () => {
  it.each(routes.map((route) => [nameOf(route), route.dto] as const))('has valid default values: %s', (_name, dto) => {
    const defaults = membersOfDto(dto).filter(({ byDefault }) => byDefault !== undefined);
    expect(defaults.filter(({ type, byDefault }) => type.check(byDefault)).map(({ name }) => name)).toEqual([]);
  });

  it.each(routes.map((route) => [nameOf(route), route.dto] as const))(
    'reports its first parameter: %s',
    (_name, dto) => {
      const members = membersOfDto(dto);
      const required = members.find(({ isRequired }) => isRequired);
      if (required) expect(() => parse(dto, {}, Parameters.none)).toThrow(`Missing '${required.name}' argument`);
      else expect(parse(dto, {}, Parameters.none).dto).toEqual(new dto());
    },
  );
});
