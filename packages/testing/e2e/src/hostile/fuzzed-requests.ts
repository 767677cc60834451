import { join } from 'node:path';
import { membersOfDto } from '@parley/http';
import { alternativesOf, fieldTextOf, largestOf, type ParameterSchema, SeededRandomness } from '@parley/testkit';
import { type Case, loadCases } from '../conformance/cases.js';
import { DATA } from '../conformance/files.js';
import { encodeForm } from '../conformance/request.js';
import type { EncodedRequest } from './encode.js';
import { ROUTES, signsOut } from './routes.js';

interface Draft {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly (readonly [name: string, text: string])[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY'];
const WORDS = [
  ...[
    '',
    '0',
    '-1',
    '1',
    '7',
    '1e400',
    '9'.repeat(40),
    'NaN',
    'null',
    'true',
    '"',
    '\\',
    '%',
    '%00',
    '\0',
    '\ufeff',
    'İ',
    '😀',
  ],
  ...[
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '[""]',
    '{"":""}',
    '{"__proto__":1}',
    '{"toString":1}',
    '[{"toString":1}]',
    '"\\ud800"',
  ],
  ...[
    '__proto__',
    'constructor',
    'newest',
    'first_unread',
    "'; drop table messages; --",
    '../../etc/passwd',
    '@**all**',
  ],
];

/** Yields recorded and generated requests with random mutations; deterministic by seed. */
export function* fuzzedRequests(seed: number): Generator<EncodedRequest> {
  const chance = new SeededRandomness(seed);
  const below = (limit: number) => Math.floor(chance.fraction() * limit);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const recorded = loadCases(join(DATA, 'cases.json')).filter((it): it is Case => 'method' in it && !signsOut(it));
  const routes = ROUTES.filter((route) => !signsOut(route));

  /** Replaces run-specific values with ids that may exist. */
  const filled = (text: string) => text.replace(/\$\{[^}]*\}/g, () => String(1 + below(20)));
  const fromCase = ({ method, path, params = {} }: Case): Draft => ({
    method,
    path: filled(path.startsWith('//') ? path.slice(1) : `/api/v1${path}`),
    fields: Object.entries(params).map(
      ([name, value]) => [name, filled(typeof value === 'string' ? value : JSON.stringify(value))] as const,
    ),
  });
  const fromRoute = (): Draft => {
    const { method, path, atRoot, dto } = oneOf(routes);
    const filledPath = path.replace(/[:*][a-z_]+/g, () => encodeURIComponent(oneOf([...WORDS, '1', '2', '3'])));
    const fields = membersOfDto(dto)
      .filter((member) => member.isRequired || below(3) === 0)
      .map((member) => {
        const schema = oneOf(alternativesOf(member.type.schema as ParameterSchema));
        return [member.name, fieldTextOf(member.type, largestOf(schema, 10 ** below(4)))] as const;
      });
    return { method, path: (atRoot ? '' : '/api/v1') + filledPath, fields };
  };

  const spoiled = (text: string): string => {
    const at = below(text.length + 1);
    switch (below(7)) {
      case 0:
        return oneOf(WORDS);
      case 1:
        return text.slice(0, at);
      case 2:
        return text.slice(0, at) + oneOf(WORDS) + text.slice(at);
      case 3:
        return text.slice(0, at) + String.fromCharCode(below(0x10000)) + text.slice(at + 1);
      case 4:
        return text.repeat(1 + below(50)).slice(0, 5000);
      case 5:
        return `${'['.repeat(below(300))}${text}`;
      default:
        return text.replace(/\d+/g, () => oneOf(['-1', '0', '4294967296', '1e9', '1.5']));
    }
  };
  const mutated = (draft: Draft): Draft => {
    const fields = [...draft.fields];
    const at = below(fields.length);
    const [name, text] = fields[at] ?? ['x', ''];
    switch (below(8)) {
      case 0:
        return { ...draft, method: oneOf(METHODS) };
      case 1:
        return { ...draft, path: draft.path + oneOf(['/', '//', '/..', '/%2e%2e', '/%', '?', '?x=%ff', '/0']) };
      case 2:
        fields.splice(at, 1);
        return { ...draft, fields };
      case 3:
        return { ...draft, fields: [...fields, [name, oneOf(WORDS)]] };
      case 4:
        return {
          ...draft,
          fields: [...fields, [oneOf(oneOf(recorded.map((it) => Object.keys(it.params ?? { x: 1 })))) ?? 'x', text]],
        };
      default:
        fields[at] = [name, spoiled(text)];
        return { ...draft, fields };
    }
  };

  for (;;) {
    let draft = below(2) === 0 ? fromCase(oneOf(recorded)) : fromRoute();
    for (let count = below(4); count > 0; count--) draft = mutated(draft);
    // The callers must exist until the end.
    if (draft.method === 'DELETE' && draft.path.startsWith('/api/v1/users/')) continue;
    yield encode(draft, chance);
  }
}

/** Drops path characters that an HTTP client cannot send. */
function encode({ method, path, fields }: Draft, chance: SeededRandomness): EncodedRequest {
  const target = path.replace(/[^\x21-\x7e]/g, '');
  const form = fields.map((field) => encodeForm(Object.fromEntries([field]))).join('&');
  const hasQuery = ['GET', 'HEAD', 'OPTIONS'].includes(method) !== chance.fraction() < 0.05;
  if (hasQuery)
    return {
      method,
      target: form ? `${target}${target.includes('?') ? '&' : '?'}${form}` : target,
      headers: {},
      body: null,
    };
  const type = chance.fraction() < 0.9 ? 'application/x-www-form-urlencoded' : 'application/json';
  // Node would send a GET or HEAD body without its length.
  const headers = { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(form)) };
  return { method, target, headers, body: form };
}
