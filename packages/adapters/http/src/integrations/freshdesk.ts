import { type EventTemplate, type Integration, type Payload, quoteOf, textOfHtml, topicOf } from './integration.js';

const ROOT = 'freshdesk_webhook';
const topic = (payload: Payload): string =>
  topicOf(`#${payload.raw(`${ROOT}.ticket_id`)} ${payload.maybe(`${ROOT}.ticket_subject`)}`.trim());
const ticket = (payload: Payload, noun = 'ticket'): string => {
  const subject = payload.has(`${ROOT}.ticket_subject`) ? ` ${payload.text(`${ROOT}.ticket_subject`)}` : '';
  return payload.link(`${noun} #${payload.text(`${ROOT}.ticket_id`)}${subject}`, `${ROOT}.ticket_url`);
};
/** Bodies written for Zulip have no prefix here. */
const REQUESTER = ['ticket_requester_name', 'requester_name', 'ticket_requester_email', 'requester_email'];
const requester = (payload: Payload): string => payload.person(...REQUESTER.map((name) => `${ROOT}.${name}`));
const agent = (payload: Payload): string => payload.person(`${ROOT}.ticket_agent_name`);

const facts = (payload: Payload): string => {
  const known = ['type', 'priority', 'status'].filter((name) => payload.has(`${ROOT}.ticket_${name}`));
  return known.length === 0
    ? ''
    : ` (${known.map((name) => `${name} **${payload.text(`${ROOT}.ticket_${name}`)}**`).join(', ')})`;
};

const on = (text: (payload: Payload) => string, quoted = ''): EventTemplate => ({
  topic,
  text: (payload) => `${text(payload)}.${quoted === '' ? '' : quoteOf(textOfHtml(payload.maybe(`${ROOT}.${quoted}`)))}`,
});

/** Changes that triggered the webhook, such as `{ticket_action:created}` or `{status:{from:2,to:4}}`. */
const TRIGGERS: readonly (readonly [trigger: RegExp, event: string])[] = [
  [/\bticket_action:\s*created/, 'created'],
  [/\bnote_type:/, 'note'],
  [/\breply_sent:/, 'reply'],
];

const BODY = `{
  "freshdesk_webhook": {
    "triggered_event": "{{triggered_event}}",
    "ticket_id": "{{ticket.id}}",
    "ticket_subject": "{{ticket.subject}}",
    "ticket_description": "{{ticket.description}}",
    "ticket_url": "{{ticket.url}}",
    "ticket_type": "{{ticket.ticket_type}}",
    "ticket_priority": "{{ticket.priority}}",
    "ticket_status": "{{ticket.status}}",
    "ticket_requester_name": "{{ticket.requester.name}}",
    "ticket_agent_name": "{{ticket.agent.name}}",
    "ticket_latest_public_comment": "{{ticket.latest_public_comment}}"
  }
}`;

export const FRESHDESK: Integration = {
  name: 'freshdesk',
  displayName: 'Freshdesk',
  documentation: 'https://support.freshdesk.com/support/solutions/articles/132589-using-webhooks-in-automation-rules',
  setup: BODY,
  eventOf: (payload) => {
    payload.raw(`${ROOT}.ticket_id`);
    const trigger = payload.maybe(`${ROOT}.triggered_event`);
    return TRIGGERS.find(([pattern]) => pattern.test(trigger))?.[1] ?? 'updated';
  },
  events: {
    created: on((payload) => `${requester(payload)} created ${ticket(payload)}${facts(payload)}`, 'ticket_description'),
    updated: on((payload) => `${ticket(payload, 'Ticket')} changed${facts(payload)}`),
    note: on((payload) => `${agent(payload)} added a note to ${ticket(payload)}`),
    reply: on((payload) => `${agent(payload)} replied to ${ticket(payload)}`, 'ticket_latest_public_comment'),
  },
};
