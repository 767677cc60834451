import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from './cases.js';
import { type CaseRule, caseRuleOf } from './expected-cases.js';
import { DATA } from './files.js';
import { isObject, type Json, type JsonObject } from './json.js';

// General differences between the recorded feature level 261 and level 496 of the contract. `expected-cases.ts`
// contains those of single cases.

const keys = JSON.parse(readFileSync(join(DATA, 'keys-of-level-496.json'), 'utf8')) as Readonly<
  Record<'added' | 'removed' | 'settings', readonly string[]>
>;

/** Fields of the contract that may be missing from the recording. */
export const ADDED_FIELDS: ReadonlySet<string> = new Set(keys.added);
/** Recorded fields that the contract does not require. */
export const REMOVED_FIELDS: ReadonlySet<string> = new Set(keys.removed);
/** User settings repeated in the register response. */
const REPEATED_SETTINGS: ReadonlySet<string> = new Set(keys.settings);

export const NULLABLE_FIELDS: ReadonlySet<string> = new Set(['avatar_url', 'avatar_url_medium']);

/** Values that depend on seeded channels, the source of default avatars, or the host. */
export const FREE_TEXT_FIELDS: ReadonlySet<string> = new Set([
  'color',
  'avatar_url',
  'avatar_url_medium',
  'avatar_source',
  'sender_realm_str',
]);

/**
 * Events that are not compared: `presence` depends on absence, `realm_export_consent` is newer than the recording
 * (organization §8), the others are copies and legacy formats.
 */
export const DROPPED_EVENTS: ReadonlySet<string> = new Set([
  'heartbeat',
  'presence',
  'update_display_settings',
  'update_global_notifications',
  'realm_filters',
  'muted_topics',
  'realm_bot',
  'realm_export_consent',
]);

const SYSTEM_BOTS: ReadonlySet<Json | undefined> = new Set(['Notification Bot', 'Welcome Bot']);
const FIELDS_OF_SYSTEM_BOTS = ['avatar_url', 'sender_email', 'sender_realm_str', 'flags', 'client'];

/** Only the name of a system bot is fixed; the read state of its notices has changed over time. */
export function withoutFieldsOfSystemBots(recorded: JsonObject, here: JsonObject): readonly [JsonObject, JsonObject] {
  if (SYSTEM_BOTS.has(recorded.sender_full_name)) {
    return [without(recorded, FIELDS_OF_SYSTEM_BOTS), without(here, FIELDS_OF_SYSTEM_BOTS)];
  }
  if (isObject(recorded.message) && SYSTEM_BOTS.has(recorded.message.sender_full_name)) {
    return [without(recorded, ['flags']), without(here, ['flags'])];
  }
  return [recorded, here];
}

/** Expectation derived from a recorded response. */
export interface Expectation {
  readonly statuses: readonly number[];
  readonly body: Json;
  readonly anyBody: boolean;
  readonly anyEvents: boolean;
  readonly loose: boolean;
  readonly ignore: readonly RegExp[];
}

/** Returns a text with the reason if the case is not compared. */
export function expectationOf(recorded: Answer): Expectation | string {
  const rule = caseRuleOf(recorded.name);
  if (rule.skip !== undefined) return rule.skip;
  const { status, body } = recorded;
  const expectation = {
    statuses: [rule.status ?? status].flat() as readonly number[],
    body,
    anyBody: rule.anyBody ?? false,
    anyEvents: rule.anyEvents ?? false,
    loose: rule.loose ?? recorded.loose ?? false,
    ignore: rule.ignore ?? [],
  };
  if (status === 404 && isObject(body) && '<text>' in body) return { ...expectation, anyBody: true };
  if (status === 500) return { ...expectation, statuses: [rule.status ?? 400].flat(), anyBody: true };
  if (!isObject(body)) return expectation;
  const translated = inNewerWords(body, rule);
  return {
    ...expectation,
    body: recorded.name.startsWith('register/') ? without(translated, [...REPEATED_SETTINGS]) : translated,
    loose: expectation.loose || /is not an allowed_type$/.test(String(translated.msg ?? '')),
  };
}

/** Translates errors of the older argument parser to the newer one and applies the case's rule. */
function inNewerWords(body: JsonObject, rule: CaseRule): JsonObject {
  const translated = inWordsOfNewParser(body);
  // A success stays unchanged if the case it depends on was skipped.
  if (translated.result === 'success' && rule.status === undefined) return translated;
  const base: JsonObject = rule.extra
    ? { ...only(translated, ['msg', 'code']), result: 'error', ...rule.extra }
    : translated;
  return {
    ...base,
    ...(rule.msg !== undefined && { msg: rule.msg }),
    ...(rule.code !== undefined && { code: rule.code }),
  };
}

function inWordsOfNewParser(body: JsonObject): JsonObject {
  const { code, var_name, bad_value } = body;
  if (code === 'REQUEST_VARIABLE_INVALID' && (var_name === 'num_before' || var_name === 'num_after')) {
    return { result: 'error', msg: `${var_name} ${whatIsWrongWith(String(bad_value))}`, code: 'BAD_REQUEST' };
  }
  const notJson = /^Argument "(.+)" is not valid JSON\.$/.exec(String(body.msg ?? ''));
  if (notJson) return { ...body, msg: `${notJson[1]} is not valid JSON` };
  const newer = NEWER_TEXTS.find(([older]) => older.test(String(body.msg ?? '')));
  return newer ? { ...body, msg: String(body.msg).replace(...newer) } : body;
}

/** The newer parser gives the reason for an invalid value (protocol §3). */
const NEWER_TEXTS: readonly (readonly [older: RegExp, newer: string])[] = [
  [
    /^(Invalid (?:color_scheme|email_address_visibility|emojiset|invite_as|role|visibility_policy|web_home_view))$/,
    '$1: Value error, Not in the list of possible values',
  ],
  [/^timezone is not a recognized time zone$/, 'Invalid timezone: Value error, Not a recognized time zone'],
  [/^(payload_url) is not a URL$/, 'Invalid $1: Value error, Not a URL'],
  [/^Name is already in use!$/, 'Name is already in use.'],
];

function whatIsWrongWith(count: string): string {
  try {
    JSON.parse(count);
  } catch {
    return 'is not valid JSON';
  }
  return /^-?\d+$/.test(count.trim()) ? 'is too small' : 'is not an integer';
}

const without = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

const only = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
