import { type Member, membersOfDto, type Route } from '@parley/http';
import { excessesOf, fieldTextOf, leastOf, type ParameterSchema, unboundedIn } from '@parley/testkit';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';

/** Tests are generated from the route table, so new operations are covered automatically. */
let routes: readonly Route[];
let helper: TestUser;
let browser: TestBrowser;
const { server } = serverPerSuite();
beforeAll(async () => {
  routes = server.parley.routes;
  browser = await TestBrowser.loggedIn(server, server.people.desdemona);
  helper = await server.addBot(server.people.desdemona, 'helper');
});

const schemaOf = ({ type }: Member) => type.schema as ParameterSchema;
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Bodies and paths have separate limits. */
const MAX_BODY_LENGTH = 900_000;
const MAX_PATH_LENGTH = 12_000;

interface Sent {
  readonly path: string;
  readonly body: string;
}

/** Builds a request with the given parameter and minimal required parameters. */
function requestWith(route: Route, member: Member, text: string): Sent {
  const form = new URLSearchParams();
  let path = (route.atRoot ? '/' : '') + route.path;
  for (const each of membersOfDto(route.dto)) {
    const value =
      each === member ? text : each.isRequired ? fieldTextOf(each.type, leastOf(schemaOf(each))) : undefined;
    if (value === undefined) continue;
    const inPath = path.replace(new RegExp(`[:*]${each.name}(?=/|$)`), encodeURIComponent(value));
    if (inPath === path) form.set(each.name, value);
    path = inPath;
  }
  return { path, body: form.toString() };
}

/** Operations with a raw body have their parameters in the address. */
const addressed = ({ body: bodyKind }: Route, sent: Sent): Sent =>
  bodyKind === 'raw' ? { path: `${sent.path}?${sent.body}`, body: '' } : sent;

const send = (route: Route, sent: Sent) => {
  const { method, roleRequirements } = route;
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { path, body } = addressed(route, sent);
  if (/^\/\/(json|accounts)\//.test(path)) return browser.request(method, path.slice(1), undefined, { body, headers });
  const as = roleRequirements.includes('bot') ? helper : server.people.desdemona;
  return server.request(method, path, { as, body, headers });
};

/** Returns the error; pages show it within the page. */
function refusalIn({ status, body }: TestReply): {
  readonly status: number;
  readonly msg: string;
  readonly code: string;
} {
  if (typeof body !== 'string') return { status, msg: body.msg, code: body.code };
  return { status, msg: /role="alert"[^>]*>([^<]*)</.exec(body)?.[1] ?? body, code: 'BAD_REQUEST' };
}

/** Positions with a maximum of the whole value in bytes of JSON. */
const LIMITED_AS_A_WHOLE = ['PATCH /application_data: data.* (anything)'];

it('every parameter has a maximum', () => {
  const unbounded = routes.flatMap((route) =>
    membersOfDto(route.dto).flatMap((member) =>
      [
        ...unboundedIn(schemaOf(member), member.name),
        ...(Number.isFinite(member.type.jsonLength) ? [] : [`${member.name} (JSON)`]),
      ].map((position) => `${nameOf(route)}: ${position}`),
    ),
  );
  expect(unbounded).toEqual(LIMITED_AS_A_WHOLE);
});

it('every parameter rejects values beyond its maximum and accepts the maximum', async () => {
  let tried = 0;
  for (const route of routes) {
    for (const member of membersOfDto(route.dto)) {
      // Credentials are checked before parameters.
      const isUnauthenticated =
        /^\/scim\//.test(route.path) || (nameOf(route) === 'POST /external/:integration' && member.name === 'api_key');
      for (const { value, refusal } of excessesOf(schemaOf(member))) {
        const request = requestWith(route, member, fieldTextOf(member.type, value));
        if (request.body.length > MAX_BODY_LENGTH || request.path.length > MAX_PATH_LENGTH) continue;
        const { status, msg, code } = refusalIn(await send(route, request));
        if (isUnauthenticated) {
          expect([nameOf(route), status]).toEqual([nameOf(route), 401]);
          continue;
        }
        const isAboutIt = msg.startsWith(member.name) && msg.endsWith(` ${refusal}`);
        expect([nameOf(route), member.name, status, code, isAboutIt ? refusal : msg]).toEqual([
          nameOf(route),
          member.name,
          400,
          'BAD_REQUEST',
          refusal,
        ]);
        tried++;
      }
    }
  }
  expect(tried).toBeGreaterThan(100);
}, 600_000);

describe('invalid value', () => {
  /** Values that may reach storage. */
  const PLAIN_VALUES: readonly unknown[] = [-1, 1e308, '\ud800', '\0'];
  const JSON_VALUES = [...PLAIN_VALUES, { toString: 1 }, [{ toString: 1 }], [[[]]], [null]];
  const TEXTS = ['', '{"__proto__":{"toString":1}}', '1,'.repeat(5000), '['.repeat(50_000), '9'.repeat(999)];

  /** Flags of a DTO share one parser, so testing one of them is enough. */
  const isFlag = (member: Member) => schemaOf(member).type === 'boolean';
  const membersOf = ({ dto }: Route): readonly Member[] => {
    const members = membersOfDto(dto);
    const flag = members.find(isFlag);
    return members.filter((member) => member === flag || !isFlag(member));
  };

  /** Replaces the whole value or each of its parts. */
  const slotsIn = (least: unknown): readonly ((value: unknown) => unknown)[] => [
    (value) => value,
    ...(typeof least === 'object' && least !== null ? Object.keys(least) : []).map((key) => (value: unknown) => ({
      ...(least as object),
      [key]: value,
    })),
  ];

  it('causes an error response or is interpreted, but never causes a 500', async () => {
    const failed: unknown[] = [];
    // Routes that share a use case are aliases of one operation.
    const distinct = [...new Map(routes.map((route) => [route.useCase ?? route, route])).values()];
    for (const route of distinct) {
      for (const member of membersOf(route)) {
        const slots = slotsIn(leastOf(schemaOf(member)));
        const texts = slots.flatMap((put) => JSON_VALUES.map((value) => JSON.stringify(put(value))));
        for (const text of [...texts, ...TEXTS]) {
          const request = requestWith(route, member, text);
          if (addressed(route, request).path.length > MAX_PATH_LENGTH) continue;
          const { status, body } = await send(route, request);
          if (status >= 500) failed.push([nameOf(route), member.name, text.slice(0, 100), body]);
        }
      }
    }
    expect(failed).toEqual([]);
  }, 600_000);
});
