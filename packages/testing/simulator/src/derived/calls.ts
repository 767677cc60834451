import { membersOfDto, type Route } from '@parley/http';
import { SeededRandom } from '@parley/server/testing';
import type { ParameterSchema } from '@parley/testkit';
import type { Choices } from '../choices.js';
import type { Company } from '../company.js';
import { numbersIn } from '../model.js';
import type { Delivery } from '../outside.js';
import { settle } from '../simulated-time.js';
import { Violation } from '../violation.js';
import { type Answer, type Call, ConnectionLost } from '../wire.js';
import { type Coverage, nameOf } from './coverage.js';
import { Draw, IMAGE, LEFT_OUT, PASSWORD } from './draw.js';
import { Organization, type Person } from './organization.js';
import { multipart, type Parts, RECIPES } from './recipes.js';
import { mismatchOf } from './response-types.js';
import {
  BY_NAME,
  CALLED,
  creatorOf,
  fieldsOf,
  isNotice,
  mayCall,
  namesInPath,
  type Params,
  parametersIn,
  pathOf,
  usesSession,
  wrongOf,
} from './routes.js';
import { kindIn, kindOf, SeenValues } from './seen-values.js';
import { WrittenTables } from './written-tables.js';

// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Request before it is written down. */
interface Draft extends Parts {
  readonly route: Route;
  /** Null for an anonymous caller. */
  person: Person | null;
  readonly params: Params;
  host: string;
  /** True if the call is meant to be refused. */
  isSpoilt?: boolean;
}

/** Calls per step. */
const CALLS = 10;
/** Share of the calls that are meant to succeed. */
const WISHED = 0.65;
/** Share of the steps after which a client is compared with a new one. */
const CHECKED = 0.5;
/** Maximum number of calls that prepare another one, each within the former. */
const MAX_DEPTH = 3;

/** Length from which on a response is not searched for addresses. */
const LONG_RESPONSE = 10_000;

/** Tables that a refused call may change: counters, times of use and attempts. */
const COUNTERS = new Set(['audit_chain', 'audit_detail', 'audit_entry', 'session']);

/** Option of a run that plays the calls and adds to the coverage. */
export const callsInto = (coverage: Coverage) => (company: Company) => {
  const calls = new DerivedCalls(company, coverage);
  return (step: Choices) => calls.play(step);
};

/** Plays calls derived from the routes in organizations of their own. */
class DerivedCalls {
  private organization: Organization | undefined;
  private count = 0;
  private crashes = 0;
  /** Number of drawn calls. */
  private drawn = 0;
  private shared = new SeenValues();
  /** Parameters of paths that addresses in emails and responses have shown, newest last. */
  private addresses = new Map<string, Params[]>();
  private written!: WrittenTables;

  constructor(
    private readonly company: Company,
    private readonly coverage: Coverage,
  ) {
    const { outside } = company.engine;
    const { onDelivery } = outside;
    outside.onDelivery = (delivery) => this.receive(delivery) ?? onDelivery(delivery);
  }

  async play({ a, b }: Choices): Promise<void> {
    const { engine } = this.company;
    if (engine.isDiskFailing) return;
    const random = new SeededRandom(Math.floor(a * 2 ** 31) ^ Math.floor(b * 2 ** 31));
    this.written = new WrittenTables(engine.disk);
    try {
      const organization = await this.prepared();
      for (let n = 0; n < CALLS; n++) await this.call(random.pick(CALLED), random);
      const clients = organization.people.filter(({ client }) => client);
      for (const person of clients) await organization.follow(person, this.request);
      const isChecked = clients.length > 0 && random.fraction() < CHECKED;
      if (isChecked) await organization.check(random.pick(clients), this.request);
      for (const { client } of clients) for (const kind of client?.synced.heard ?? []) this.coverage.events.add(kind);
    } catch (error) {
      if (!(error instanceof ConnectionLost) || !engine.isDead) throw error;
    } finally {
      this.written.close();
    }
    if (engine.isDead) await this.company.recover();
  }

  /** The organization, with people who may do what their roles allow. */
  private async prepared(): Promise<Organization> {
    const { engine } = this.company;
    // A restored backup or an upgrade may have taken back what clients know.
    if (this.crashes !== engine.crashes) for (const person of this.organization?.people ?? []) person.client = null;
    this.crashes = engine.crashes;
    const changed = (await this.organization?.refresh(this.company)) ?? [];
    const owner = this.organization?.people[0];
    const isUsable = owner && (await this.request(owner, 'GET', '/users/me', {}))?.is_owner === true;
    if (!isUsable) return this.opened();
    for (const { person, isActive } of changed) {
      if (!isActive) await this.request(owner, 'POST', `/users/${person.id}/reactivate`, {});
      const role = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600, bot: 400, webhook: 400 }[
        person.role
      ];
      await this.request(owner, 'PATCH', `/users/${person.id}`, { role });
    }
    await this.organization!.connect(this.request, this.count);
    return this.organization!;
  }

  private async opened(): Promise<Organization> {
    const organization = await Organization.open(this.company, `derived${++this.count}`);
    if (!organization) throw new ConnectionLost();
    this.organization = organization;
    this.shared = new SeenValues();
    this.addresses.clear();
    const { people, host } = organization;
    this.company.trace(`${host} is opened`);
    const [owner] = people as [Person];
    const principals = people.map(({ id }) => id);
    for (const name of ['general', 'random', 'secret']) {
      const params = { subscriptions: [{ name }], principals, invite_only: name === 'secret' };
      await this.request(owner, 'POST', '/users/me/subscriptions', params);
    }
    await this.request(owner, 'PATCH', '/realm', {
      enable_spectator_access: true,
      enable_read_receipts: true,
      invite_required: false,
    });
    const [secret] = (await this.request(owner, 'GET', '/streams', {})).streams.filter(
      ({ invite_only }: Wire) => invite_only,
    );
    await this.request(owner, 'PATCH', '/realm', { moderation_request_channel_id: secret.stream_id });
    const open = { subscriptions: [{ name: 'open' }], is_web_public: true };
    await this.request(owner, 'POST', '/users/me/subscriptions', open);
    await this.request(owner, 'POST', '/messages', {
      type: 'channel',
      to: 'open',
      topic: 'plans',
      content: 'Tea for all',
    });
    for (const { stream_id: id } of (await this.request(owner, 'GET', '/streams', {})).streams)
      this.shared.add('stream', id);
    await organization.connect(this.request, this.count);
    for (const person of people) {
      for (const { id } of people.slice(2)) this.shared.add('user', id);
      await this.request(person, 'POST', '/messages', {
        type: 'channel',
        to: 'general',
        topic: 'plans',
        content: 'Tea',
      });
    }
    return organization;
  }

  /** Request of a check, or that prepares something. Returns the response. */
  private readonly request = async (person: Person, method: string, path: string, params: object): Promise<Wire> => {
    const label = path.replace(/\d+/g, ':id');
    const route = BY_NAME.get(`${method} ${path}`);
    const { host } = this.organization!;
    const { json, status } = await this.send(
      { method, path, params: params as Params, authorization: person.authorization, copyHost: host },
      label,
    );
    if (route) this.coverage.add(route, status, json?.code);
    if (status === 200) this.note(person, json, path);
    return status === 200 ? json : null;
  };

  private async send(call: Call, label: string): Promise<Answer> {
    const { company } = this;
    const { engine } = company;
    company.calls++;
    const answer = await engine.call(call, 0);
    await settle(engine.isBusy);
    const { status, body, json } = answer;
    company.trace(`${label} → ${status} ${json?.code ?? ''}`);
    if (engine.isDead) throw new ConnectionLost();
    if (status >= 500) throw new Violation('no internal errors', `${label} ${JSON.stringify(call)} → ${body}`);
    if (numbersIn(body).size > 0)
      throw new Violation('nobody else sees it', `${label} ${JSON.stringify(call)} → ${body}`);
    return answer;
  }

  /** Calls a route, to succeed or to be refused. */
  private async call(route: Route, random: SeededRandom): Promise<void> {
    const { people } = this.organization!;
    const isWished = random.fraction() < WISHED;
    const isOwner = isWished && (route.auth === 'anyone' || random.fraction() < 0.6);
    const able = people.filter((person) => !isWished || mayCall(route, person));
    const person = isOwner && mayCall(route, people[0]!) ? people[0]! : random.pick(able.length > 0 ? able : people);
    const draft = await this.draftOf(route, person, random);
    await this.perform(isWished ? draft : this.spoilt(draft, random));
  }

  /** Call with what it needs, made by the same person. */
  private async draftOf(
    route: Route,
    person: Person,
    random: SeededRandom,
    depth = 0,
    forced: readonly string[] = [],
  ): Promise<Draft> {
    const { host, scimToken } = this.organization!;
    const adds = route.method === 'POST' || route.method === 'PUT' || forced.length > 0;
    const draw = new Draw(random, person.values, this.shared, this.company.time.now(), ++this.drawn, adds);
    const kitchen = { draw, email: person.email, scimToken };
    const { before, from = {}, takes = [], lacks = [], params: fixed, request } = RECIPES[nameOf(route)] ?? {};
    const inPath = namesInPath(route);
    const creators = random.fraction() < 0.7 ? inPath.map((name) => creatorOf(route, name)) : [];
    const made: Params = {};
    const make = async (call: string) => {
      const [method, path, ...names] = call.split(' ');
      if (depth >= MAX_DEPTH) return null;
      const prior = await this.draftOf(BY_NAME.get(`${method} ${path}`)!, person, random, depth + 1, names);
      const { status, json } = await this.perform(prior);
      if (status >= 400) return null;
      Object.assign(made, prior.params);
      return json;
    };
    const prior = before ?? creators.filter((name) => name !== undefined && Object.keys(from).length === 0);
    for (const call of prior) await make(call!);
    const found: Params = {};
    for (const [name, [call, field]] of Object.entries(from)) found[name] = fieldOf(await make(call), field);
    const params: Params = {};
    const members = membersOfDto(route.dto);
    const share = Math.min(0.3, 3 / members.length);
    for (const { name, isRequired, type } of members) {
      const isNeeded = isRequired || inPath.includes(name) || takes.includes(name) || forced.includes(name);
      const isTaken = isNeeded || (!LEFT_OUT.has(name) && !lacks.includes(name) && random.fraction() < share);
      if (isTaken || name === 'dont_block')
        params[name] = draw.valueOf(name, type.schema as ParameterSchema, kindIn(route, name));
      if (isNeeded && name in made) params[name] = made[name];
    }
    for (const name of inPath) {
      const kind = kindIn(route, name);
      if (prior.length > 0 && !(name in made)) params[name] = person.values.newest(kind) ?? params[name];
      params[name] ??= draw.seen(kind, 'number') ?? draw.seen(kind, 'string');
    }
    const shown = this.addresses.get(route.path);
    if (shown && (before || random.fraction() < 0.9)) Object.assign(params, before ? shown.at(-1) : random.pick(shown));
    Object.assign(params, found, typeof fixed === 'function' ? fixed(kitchen) : fixed);
    const parts = request?.(kitchen) ?? (route.body === 'files' ? multipart('a.png', IMAGE) : {});
    return { ...parts, route, person, params, host };
  }

  /** Changes something, so that the call is probably refused. */
  private spoilt(draft: Draft, random: SeededRandom): Draft {
    const { route, params } = draft;
    // A poll without this parameter waits for an event.
    const members = membersOfDto(route.dto).filter(({ name }) => name !== 'dont_block');
    draft.isSpoilt = true;
    const choice = random.below(6);
    const member = members.length > 0 ? random.pick(members) : null;
    if (choice === 0) draft.host = 'nowhere.localhost';
    else if (choice === 1) draft.person = null;
    else if (choice === 2) draft.person = random.pick(this.organization!.people.slice(-3));
    else if (member && choice === 3) params[member.name] = wrongOf(member);
    else if (member && choice === 4)
      delete params[random.pick(members.filter(({ isRequired }) => isRequired).concat(member)).name];
    else if (member) params[member.name] = this.foreign(kindIn(route, member.name), random);
    return draft;
  }

  /** Value of the company, of a deleted thing, or of nothing. */
  private foreign(kind: string, random: SeededRandom): unknown {
    const { model, people } = this.company;
    const ids = {
      user: people.map(({ id }) => id),
      stream: [...model.channels.keys()],
      message: [...model.messages.keys()].slice(-20),
    }[kind];
    if (ids && ids.length > 0 && random.fraction() < 0.7) return random.pick(ids);
    return random.pick([999_999_999, 0, -1, 'nothing']);
  }

  private async perform({ route, person, params, host, headers, body, isSpoilt }: Draft): Promise<Answer> {
    const fields = fieldsOf(route, params);
    const session = person && usesSession(route) ? await this.session(person, route) : null;
    const name = nameOf(route);
    const isPage = route.atRoot === true;
    this.written.begin();
    const answer = await this.send(
      {
        ...{ method: route.method, path: pathOf(route, params), params: fields, copyHost: host, isPage, body },
        ...(person && route.auth !== 'program' && !session && { authorization: person.authorization }),
        headers: { ...session, ...headers },
      },
      `d${person?.id ?? ''} ${name} ${Object.keys(fields)}`,
    );
    const { status, json } = answer;
    this.coverage.add(route, status, json?.code);
    if (status === 401) person?.cookies.delete('sessionid');
    if (status >= 400) {
      const changed = this.written.end().filter((table) => !COUNTERS.has(table) && !isNotice(route, person));
      if (changed.length === 0) return answer;
      throw new Violation('a refused call changes nothing', `${name} → ${answer.body}: ${changed}`);
    }
    const mismatch = json?.result === 'success' ? mismatchOf(route, json) : null;
    if (mismatch) throw new Violation('responses have the declared types', `${name}: ${mismatch}`);
    if (person) await this.learn(person, route, isSpoilt ? {} : params, answer);
    return answer;
  }

  /** Remembers what a successful call has shown. */
  private async learn(person: Person, route: Route, params: Params, { json, headers, body }: Answer): Promise<void> {
    for (const [name, value] of Object.entries(params))
      if (typeof value === 'string' || typeof value === 'number') person.values.add(kindIn(route, name), value);
    this.note(person, json, route.path);
    keepCookies(person, headers);
    if (headers.location) this.readAddresses(person.values, headers.location);
    if (typeof body === 'string' && headers['content-type']?.startsWith('text/html')) {
      for (const [, name, value] of body.matchAll(/name="(\w+)" value="([^"]+)"/g)) person.values.add(name!, value!);
      this.readAddresses(person.values, body);
    }
    if (json?.api_key && route.path === '/users/me/api_key/regenerate')
      person.authorization = `Basic ${Buffer.from(`${person.email}:${json.api_key}`).toString('base64')}`;
    if (json?.api_key && route.path === '/bots') {
      person.values.add('bot', json.user_id);
      await this.organization!.addBot(this.company, json.user_id);
    }
  }

  private note(person: Person, json: Wire, path: string): void {
    person.values.read(json, path);
    // Others call with ids that they may not know.
    for (const name of ['id', 'stream_id', 'user_id', 'group_id'])
      if (typeof json?.[name] === 'number') this.shared.read({ [name]: json[name] }, path);
    const text = JSON.stringify(json) ?? '';
    if (text.length < LONG_RESPONSE) this.readAddresses(person.values, text);
  }

  private readAddresses(values: SeenValues, text: string): void {
    for (const [, path, query] of text.matchAll(/(?:https?:\/\/[^/\s"]+)?(\/[\w%./:@+-]+)(?:\?([^\s"'<>#]*))?/g)) {
      for (const [name, value] of new URLSearchParams((query ?? '').replaceAll('&amp;', '&'))) values.add(name, value);
      for (const [of, params] of parametersIn(path!)) {
        this.addresses.set(of, [...(this.addresses.get(of) ?? []).slice(-4), params]);
        for (const [name, value] of Object.entries(params)) values.add(kindOf(name), value);
      }
    }
  }

  /** Headers of a browser in which the person has logged in. */
  private async session(person: Person, route: Route): Promise<Record<string, string>> {
    const { cookies } = person;
    const { host } = this.organization!;
    const page = { copyHost: host, isPage: true };
    const isForAll = route.path.startsWith('/login/') || (route.auth === 'anyone' && route.path.startsWith('/json/'));
    const header = (): Record<string, string> => ({
      ...(cookies.size > 0 && {
        Cookie: [...cookies]
          .filter(([name]) => !isForAll || name === 'csrftoken')
          .map((pair) => pair.join('='))
          .join('; '),
      }),
      ...(cookies.has('csrftoken') && { 'X-CSRFToken': cookies.get('csrftoken')! }),
    });
    if (!cookies.has('csrftoken'))
      keepCookies(person, (await this.send({ ...page, method: 'GET', path: '/accounts/login/' }, 'session')).headers);
    if (route.auth !== 'anyone' && !cookies.has('sessionid')) {
      const params = { username: person.email, password: PASSWORD };
      const call = { ...page, method: 'POST', path: '/accounts/login/', params, headers: header() };
      keepCookies(person, (await this.send(call, 'session')).headers);
    }
    return header();
  }

  /** Takes what the organization sends; undefined for what others get. */
  private receive({ kind, to, text }: Delivery): string | undefined {
    const isOurs =
      kind === 'email'
        ? to.includes('@derived.test')
        : kind === 'push'
          ? /^[ab\d]*$/.test(to)
          : to.includes('//hooks.example/');
    if (!isOurs) return undefined;
    if (numbersIn(text).size > 0) throw new Violation('nobody else sees it', `${kind} to ${to}: ${text}`);
    this.readAddresses(this.shared, text);
    return kind === 'bot' ? JSON.stringify({ content: 'Tea' }) : '';
  }
}

function keepCookies({ cookies }: Person, headers: Answer['headers']): void {
  for (const cookie of headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (name) cookies.set(name, value!);
  }
}

/** Value in a response; `*` stands for all entries of a list, in reverse order. */
const fieldOf = (json: Wire, path: string): unknown => valueAt(json, path.split('.'));

function valueAt(value: Wire, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === null || value === undefined) return value ?? undefined;
  if (name === '*') return value.map((each: Wire) => valueAt(each, rest)).reverse();
  return valueAt(Array.isArray(value) ? value.at(Number(name)) : value[name], rest);
}
