import type { Caller, ChannelId } from '@parley/domain/kernel';
import { PostIntegration, WarnIntegrationOwner } from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { catalogueSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, NoParameters, TextListParam, TextParam } from '../params/params.js';
import { parseForm } from '../transport/bodies.js';
import { badParameter, HttpRefusal, malformedJson, malformedPayload, success, type WireFields } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import * as all from './all.js';
import { AnomalousPayload, type Integration, type OptionValues, Payload, parsePayload } from './integration.js';
import { MAX_TEMPLATE_LENGTH } from './json.js';
import { SHORT_INTEGRATIONS } from './short-integrations.js';

/** All integrations, by name. */
export const INTEGRATIONS: readonly Integration[] = [...Object.values(all), ...SHORT_INTEGRATIONS].sort((a, b) =>
  a.name < b.name ? -1 : 1,
);

const BY_NAME: ReadonlyMap<string, Integration> = new Map(INTEGRATIONS.map((each) => [each.name, each]));

/** @throws HttpRefusal 404 */
function getIntegration(name: string): Integration {
  const integration = BY_NAME.get(name);
  if (!integration) throw new HttpRefusal(404, 'BAD_REQUEST', 'Unknown integration');
  return integration;
}

const PATTERNS = { max: 100, each: { max: 100 }, optional: true };

class IntegrationDto {
  @TextParam({ max: 100, description: 'Name of the integration.' }) integration!: string;
  /** Checked by the authentication. */
  @TextParam({ max: 100, optional: true }) api_key?: string;
  /** Name or id of the channel; absent for a direct message to the bot's owner. */
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) stream?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) topic?: string;
  @TextListParam({ ...PATTERNS, description: 'Event types to post; the default ones if absent.' })
  only_events?: string[];
  @TextListParam({ ...PATTERNS, description: 'Event types to post in addition.' }) include_events?: string[];
  @TextListParam({ ...PATTERNS, description: 'Event types not to post.' }) exclude_events?: string[];
  /** Comma-separated names. */
  @TextParam({ max: 1000, optional: true, description: 'Branches with events to post, separated by commas.' })
  branches?: string;
  @TextParam({ max: 200, optional: true, description: 'Label with the name of an alert.' }) name?: string;
  @TextParam({ max: 200, optional: true, description: 'Annotation or label with the description of an alert.' })
  desc?: string;
  @TextParam({ max: MAX_TEMPLATE_LENGTH, optional: true, description: 'Template of the message.' }) template?: string;
  @BooleanParam({ optional: true, description: 'True to post nothing about private repositories.' })
  ignore_private_repositories?: boolean;
  @BooleanParam({ optional: true, description: 'False for topics of merge requests without the title.' })
  use_merge_request_title?: boolean;
  @BooleanParam({ optional: true, description: "Region of the alert's address." }) eu_region?: boolean;
}

/** Refusal that the bot's owner should know about. */
class PayloadRefused extends HttpRefusal {
  constructor(
    refusal: HttpRefusal,
    readonly problem: string,
  ) {
    super(refusal.status, refusal.code, refusal.message);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON from the body or the form field `payload`, or the fields of a form. @throws PayloadRefused */
function readPayload({ content, header }: Pick<Request, 'content' | 'header'>): Payload {
  let text: string;
  try {
    text = utf8.decode(content ?? new Uint8Array());
  } catch {
    throw new PayloadRefused(malformedPayload(), 'that is not valid UTF-8');
  }
  if (header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    const fields = parseForm(text);
    const payload = fields.get('payload');
    // Some services send the members themselves as fields.
    if (payload === undefined && fields.size > 0) return new Payload(Object.fromEntries(fields));
    text = payload ?? '';
  }
  let value: unknown;
  try {
    value = parsePayload(text);
  } catch {
    throw new PayloadRefused(malformedJson(), 'that is not valid JSON');
  }
  if (typeof value !== 'object' || value === null)
    throw new PayloadRefused(malformedJson(), 'that is not a JSON object');
  return new Payload(value);
}

interface Reported {
  readonly event: string;
  readonly topic: string;
  /** Null if the event produces no message. */
  readonly text: string | null;
  readonly branch: string | null;
}

/** @throws PayloadRefused */
function readEvent(integration: Integration, request: Request, options: OptionValues): Reported {
  const { displayName, eventHeader } = integration;
  const payload = readPayload({ content: request.content, header: (name) => request.header(name) });
  const header = eventHeader === undefined ? '' : request.header(eventHeader.toLowerCase());
  if (header === undefined && !integration.isHeaderOptional) {
    const refusal = new HttpRefusal(400, 'MISSING_HTTP_EVENT_HEADER', `Missing the HTTP event header '${eventHeader}'`);
    throw new PayloadRefused(refusal, `without the header ${eventHeader}, which names the event`);
  }
  try {
    const event = integration.eventOf(payload, header ?? '');
    if (integration.ignored?.includes(event) || integration.isExcluded?.(payload, options)) {
      return { event, topic: '', text: null, branch: null };
    }
    const found = Object.hasOwn(integration.events, event) ? integration.events[event]! : undefined;
    if (!found) throw unsupported(event, displayName);
    const text = found.text(payload, options);
    return { event, topic: found.topic(payload, options), text, branch: found.branch?.(payload) ?? null };
  } catch (error) {
    if (!(error instanceof AnomalousPayload)) throw error;
    const message = `Unable to parse request: Did ${displayName} generate this event?`;
    const refusal = new HttpRefusal(400, 'ANOMALOUS_WEBHOOK_PAYLOAD', message);
    throw new PayloadRefused(refusal, 'without members that all its events have');
  }
}

/** Name from a request, without characters that end inline code. */
const shownName = (name: string): string => name.slice(0, 100).replace(/[^\w .:-]/g, '');

/** Status 200, so that the service does not disable the webhook. */
function unsupported(event: string, displayName: string): PayloadRefused {
  const shown = shownName(event);
  const message = `The '${shown}' event isn't currently supported by the ${displayName} webhook; ignoring`;
  const refusal = new HttpRefusal(200, 'UNSUPPORTED_WEBHOOK_EVENT_TYPE', message);
  return new PayloadRefused(refusal, `of the event \`${shown}\`, which is not supported`);
}

/** True if a pattern matches the whole name; `*` matches any text. */
const matches = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) =>
    new RegExp(
      `^${pattern
        .split(/\*+/)
        .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
        .join('.*')}$`,
      's',
    ).test(name),
  );

const isOnByDefault = ({ offByDefault = [] }: Integration, event: string): boolean => !offByDefault.includes(event);

function isWanted(
  integration: Integration,
  { event, branch }: Reported,
  { only_events, include_events = [], exclude_events = [], branches }: IntegrationDto,
): boolean {
  const isSelected = only_events ? matches(event, only_events) : isOnByDefault(integration, event);
  if (!isSelected && !matches(event, include_events)) return false;
  if (matches(event, exclude_events)) return false;
  if (branch === null || branches === undefined) return true;
  return branches.split(',').some((name) => name.trim() === branch);
}

/** Users may enter a channel id instead of a name. */
function channelOf(stream: string | undefined): { readonly id: ChannelId } | { readonly name: string } | null {
  if (stream === undefined || stream.trim() === '') return null;
  return /^\d{1,15}$/.test(stream) ? { id: Number(stream) as ChannelId } : { name: stream };
}

const OPTIONS = [
  ...(['name', 'desc', 'template'] as const),
  ...(['ignore_private_repositories', 'use_merge_request_title', 'eu_region'] as const),
] satisfies readonly (keyof OptionValues)[];
/** Parameters of all integrations. */
const GENERIC = ['api_key', 'stream', 'topic', 'only_events', 'include_events', 'exclude_events'];

/** @throws PayloadRefused if the URL has a parameter that the integration does not have; empty ones are ignored */
function optionsOf(integration: Integration, dto: IntegrationDto, { query }: Request): OptionValues {
  const { name, hasBranches, options = {}, addedParameters = [] } = integration;
  const known = [...GENERIC, ...(hasBranches ? ['branches'] : []), ...Object.keys(options), ...addedParameters];
  const [unknown] = [...parseForm(query)].find(([key, value]) => value !== '' && !known.includes(key)) ?? [];
  if (unknown !== undefined) {
    const shown = shownName(unknown);
    const refusal = badParameter(`The integration ${name} takes no ${shown}.`);
    throw new PayloadRefused(refusal, `with the parameter \`${shown}\`, which the integration does not have`);
  }
  return Object.fromEntries(
    OPTIONS.flatMap((key) => (dto[key] === undefined || dto[key] === '' ? [] : [[key, dto[key]]])),
  );
}

const integrationRoute = (): Route =>
  route('POST', '/external/:integration', {
    summary: 'Post an event from another service',
    section: 'organization §19',
    withoutPage: 'bots',
    auth: 'user',
    scope: 'account',
    dto: IntegrationDto,
    body: 'raw',
    takesKeyParameter: true,
    allowsWebhookBots: true,
    sessions: 'none',
    useCase: PostIntegration,
    response: wire.fields({}),
    handle: async ({ caller, dto, request, useCase, resolve }) => {
      const integration = getIntegration(dto.integration);
      try {
        const reported = readEvent(integration, request, optionsOf(integration, dto, request));
        if (reported.text !== null && reported.text.trim() !== '' && isWanted(integration, reported, dto)) {
          const topic = dto.topic ?? reported.topic;
          await useCase.execute(
            {
              ...(caller as Caller),
              clientName: `Zulip${integration.displayName.replaceAll(' ', '')}Webhook`.slice(0, 30),
            },
            { channel: channelOf(dto.stream), topic, content: reported.text },
          );
        }
      } catch (error) {
        if (error instanceof PayloadRefused) {
          const what = `got a request at \`/api/v1/external/${integration.name}\` ${error.problem}.`;
          await resolve(WarnIntegrationOwner).execute(caller, what);
        }
        throw error;
      }
      return success();
    },
  });

/** Some services send HEAD when the webhook is created and give up unless it succeeds. */
const checkRoute = (): Route =>
  route('GET', '/external/:integration', {
    summary: 'Check the URL of an incoming webhook',
    extension: 'extensions §8',
    withoutPage: 'bots',
    auth: 'user',
    scope: 'account',
    dto: IntegrationDto,
    takesKeyParameter: true,
    allowsWebhookBots: true,
    sessions: 'none',
    response: wire.fields({}),
    handle: async ({ dto, request }) => {
      optionsOf(getIntegration(dto.integration), dto, request);
      return success();
    },
  });

const bot = wire.fields({
  name: wire.text(),
  display_name: wire.text(),
  all_event_types: wire.nullable(wire.listOf(wire.text())),
  config_options: wire.listOf(wire.fields({ key: wire.text(), label: wire.text(), validator: wire.text() })),
  url_options: wire.listOf(wire.fields({ key: wire.text(), label: wire.text(), input_type: wire.text() })),
});

const BRANCHES = { key: 'branches', label: 'Filter by branches (comma-separated list)', input_type: 'text' };

const integration = wire.fields({
  name: wire.text(),
  display_name: wire.text(),
  documentation_url: wire.text(),
  events: wire.listOf(wire.fields({ name: wire.text(), is_on_by_default: wire.boolean() })),
  has_branches: wire.boolean(),
  options: wire.listOf(wire.fields({ key: wire.text(), label: wire.text() })),
  setup: wire.nullable(wire.text()),
});

const listRoute = (): Route =>
  route('GET', '/integrations', {
    summary: 'Get the integrations',
    extension: 'extensions §8',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    response: wire.fields({ integrations: wire.listOf(wire.named('Integration', integration)) }),
    handle: async () => success({ integrations: INTEGRATIONS.map(presentIntegration) }),
  });

const presentIntegration = (each: Integration): WireFields => ({
  name: each.name,
  display_name: each.displayName,
  documentation_url: each.documentation,
  events: Object.keys(each.events).map((name) => ({ name, is_on_by_default: isOnByDefault(each, name) })),
  has_branches: each.hasBranches ?? false,
  options: Object.entries(each.options ?? {}).map(([key, label]) => ({ key, label })),
  setup: each.setup ?? null,
});

export const INTEGRATION_FEATURE = {
  tag: 'Bots and integrations',
  routes: () => [integrationRoute(), checkRoute(), listRoute()],
  registerSections: () => [
    catalogueSection(
      'realm_incoming_webhook_bots',
      { realm_incoming_webhook_bots: wire.listOf(wire.named('IncomingWebhookBot', bot)) },
      {
        realm_incoming_webhook_bots: INTEGRATIONS.map(({ name, displayName, events, hasBranches, options = {} }) => ({
          name,
          display_name: displayName,
          all_event_types: Object.keys(events).length > 1 ? Object.keys(events) : null,
          config_options: [],
          url_options: [
            ...(hasBranches ? [BRANCHES] : []),
            ...Object.entries(options).map(([key, label]) => ({ key, label, input_type: 'text' })),
          ],
        })),
      },
    ),
  ],
} satisfies HttpFeature;
