import type { SeededRandom } from '@parley/server/testing';
import type { ParameterSchema } from '@parley/testkit';
import { kindOf, type SeenValues } from './seen-values.js';

export const PASSWORD = 'Something is rotten 4711';
export const IMAGE = 'png 40x20x1';

/**
 * Parameters that calls leave out: those of other operations than the usual one, the name of the host, and default
 * channels of bots, whose events reach only the owner if the channel is private (users §15).
 */
export const LEFT_OUT: ReadonlySet<string> = new Set(
  [
    'sender_id desktop_flow_otp excludedAttributes string_id reaction_type expected_version service_name',
    'api_key next branches default_sending_stream authentication_methods example_input',
    'prev_content_sha256 template mobile_flow_otp attributes default_events_register_stream emoji_code',
    'reverse_template config_data widget_content',
  ].flatMap((names) => names.split(' ')),
);

type Hint = (draw: Draw) => unknown;

const newEmail: Hint = ({ n }) => `e${n}@derived.test`;
const url: Hint = ({ n }) => `https://hooks.example/${n}`;

/** Parameters with a form or a meaning that their types do not express, by name. */
const HINTS: Readonly<Record<string, Hint>> = {
  password: () => PASSWORD,
  old_password: () => PASSWORD,
  new_password: () => PASSWORD,
  content: (draw) =>
    draw.random.pick([`Tea ${draw.n}`, `@**all** tea ${draw.n}`, `[tea](${draw.seen('url', 'string') ?? '/tea'})`]),
  topic_name: () => 'plans',
  user_id_or_email: (draw) => `${draw.seen('user', 'number')}`,
  topic: ({ random, n }) => random.pick(['plans', 'Tea', `topic ${n}`]),
  email: newEmail,
  new_email: newEmail,
  invitee_emails: newEmail,
  op: (draw) => draw.random.pick(['add', 'remove']),
  report_type: () => 'spam',
  appid: () => 'org.example.app',
  reason: ({ n }) => `Case ${n}`,
  csrfmiddlewaretoken: (draw) => draw.seen('csrfmiddlewaretoken', 'string'),
  full_name: ({ n }) => `Person ${n}`,
  short_name: ({ n }) => `bot${n}`,
  domain: ({ n }) => `d${n}.example`,
  scheduled_delivery_timestamp: ({ random, now }) => now + 60 + random.below(4 * 3600),
  since: ({ now }) => now - 3600,
  until: ({ now }) => now + 3600,
  pattern: ({ n }) => `W${n}-(?P<id>[0-9]+)`,
  url_template: () => 'https://example.com/{id}/',
  payload_url: (draw) => JSON.stringify(url(draw)),
  service_payload_url: (draw) => JSON.stringify(url(draw)),
  endpoint: url,
  narrow: (draw) =>
    draw.random.pick([
      [],
      [{ operator: 'is', operand: 'dm' }],
      [{ operator: 'search', operand: 'tea' }],
      [{ operator: 'channel', operand: draw.seen('stream', 'number') ?? 1 }],
    ]),
  anchor: (draw) => draw.random.pick(['newest', 'oldest', draw.seen('message', 'number') ?? 'newest']),
  emoji_name: ({ random }) => random.pick(['tada', 'heart', 'octopus']),
  fragment: ({ random, n }) => random.pick(['inbox', `narrow/topic/${n}`]),
  // A poll without it waits for an event.
  dont_block: () => true,
  color: () => '#123456',
  last_event_id: () => -1,
  // Passwords suffice.
  second_factor_required_for: () => 'nobody',
  alternative_url_templates: () => [],
  integration: () => 'slack_incoming',
  timezone: () => 'Europe/Berlin',
  default_language: () => 'de',
  search_languages: () => 'de',
  jitsi_server_url: () => '"https://jitsi.example"',
  p256dh: () => 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
  auth: () => 'tBHItJI5svbpez7KI4CCXg',
  token: ({ n }) => `${n}`.padStart(64, 'a'),
};

/** Kinds of which an operation expects an existing one rather than a new word. */
const EXISTING = new Set(['stream', 'topic', 'queue', 'device', 'domain', 'key', 'state', 'email', 'fragment', 'file']);

/** Values of one call, by the declared types. */
export class Draw {
  constructor(
    readonly random: SeededRandom,
    private readonly own: SeenValues,
    private readonly shared: SeenValues,
    /** Unix time. */
    readonly now: number,
    /** Number that no other call has. */
    readonly n: number,
    /** True if the call adds something: its words are new. */
    private readonly adds: boolean,
  ) {}

  /** Value that exists, rather one of the caller. */
  seen(kind: string, type: 'string' | 'number') {
    const [first, second] = this.random.fraction() < 0.75 ? [this.own, this.shared] : [this.shared, this.own];
    return first.pick(kind, type, this.random) ?? second.pick(kind, type, this.random);
  }

  /** Newest value that the caller has seen. */
  newest(kind: string) {
    return this.own.newest(kind);
  }

  valueOf(name: string, schema: ParameterSchema, kind = kindOf(name)): unknown {
    const known = this.known(name, schema, kind);
    if (known !== undefined) return known;
    if (schema.enum) return this.random.pick(schema.enum);
    if (schema.anyOf) return this.valueOf(name, this.random.pick(schema.anyOf), kind);
    switch (schema.type) {
      case 'boolean':
        return this.random.fraction() < 0.5;
      case 'null':
        return null;
      case 'integer':
      case 'number':
        return this.numberIn(schema);
      case 'array':
        return this.listOf(name, schema, kind);
      case 'object':
        return this.objectOf(name, schema);
      default:
        return `w${this.n}`.slice(0, schema.maxLength).padEnd(schema.minLength ?? 0, 'x');
    }
  }

  /** Value by the name, if the type takes it. */
  private known(name: string, { type, enum: words }: ParameterSchema, kind: string): unknown {
    const hint = HINTS[name];
    const isExisting = EXISTING.has(kind) && this.random.fraction() < (this.adds ? 0.3 : 0.9);
    if (words || (hint && !isExisting)) return hint?.(this);
    if (type === 'integer' || type === 'number') return this.seen(kind, 'number');
    return (type === 'string' && isExisting ? this.seen(kind, 'string') : undefined) ?? hint?.(this);
  }

  private numberIn({ minimum = 0, maximum = minimum + 50 }: ParameterSchema): number {
    return minimum + this.random.below(Math.min(maximum - minimum, 50) + 1);
  }

  private listOf(name: string, { items = {}, minItems = 1, maxItems = 3 }: ParameterSchema, kind: string) {
    const count = Math.max(minItems, 1 + this.random.below(Math.min(maxItems, 3)));
    return [...new Set(Array.from({ length: count }, () => this.valueOf(name, items, kind)))];
  }

  private objectOf(name: string, { properties = {}, required = [], additionalProperties }: ParameterSchema): object {
    if (typeof additionalProperties === 'object')
      return { [`key${this.random.below(5)}`]: this.valueOf(name, additionalProperties) };
    const named = Object.entries(properties).filter(
      ([key]) => required.includes(key) || (!LEFT_OUT.has(key) && this.random.fraction() < 0.3),
    );
    // A name inside of an object is about that object; group settings name people and groups.
    const kindAt = (key: string) => (/^(name|id|new|old)$/.test(key) ? kindOf(name) : kindOf(key));
    const members = named.map(([key, schema]) => [key, this.valueOf(key, schema, kindAt(key))] as const);
    return Object.fromEntries(members);
  }
}
