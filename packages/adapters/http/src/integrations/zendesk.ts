import { type EventTemplate, type Integration, type Payload, quoteOf, textOfHtml, topicOf } from './integration.js';

const PREFIX = /^zen:event-type:/;
const topic = (payload: Payload): string =>
  topicOf(`#${payload.raw('detail.id')} ${payload.maybe('detail.subject')}`.trim());
const ticket = (payload: Payload, noun = 'ticket'): string =>
  `${noun} #${payload.text('detail.id')}${payload.has('detail.subject') ? ` ${payload.text('detail.subject')}` : ''}`;

const words = (text: string): string => text.toLowerCase().replaceAll('_', ' ');
const facts = (payload: Payload): string => {
  const known = ['type', 'priority', 'status'].filter((name) => payload.has(`detail.${name}`));
  return known.length === 0
    ? ''
    : ` (${known.map((name) => `${name} **${words(payload.text(`detail.${name}`))}**`).join(', ')})`;
};

const bold = (payload: Payload, path: string): string => `**${words(payload.text(path))}**`;
const code = (payload: Payload, path: string): string => payload.code(path);
const changed = (what: string, shown = bold): EventTemplate => ({
  topic,
  text: (payload) => {
    const from = payload.has('event.previous') ? ` from ${shown(payload, 'event.previous')}` : '';
    const to = payload.has('event.current') ? ` to ${shown(payload, 'event.current')}` : '';
    return `The ${what} of ${ticket(payload)} changed${from}${to}.`;
  },
});
const happened = (text: string, otherwise = text): EventTemplate => ({
  topic,
  text: (payload) => `${ticket(payload, 'Ticket')} ${payload.has('event.current') ? text : otherwise}.`,
});

const commented: EventTemplate = {
  topic,
  text: (payload) => {
    const kind = payload.at('event.comment.is_public') === false ? 'an internal note' : 'a comment';
    const body = textOfHtml(payload.maybe('event.comment.body'));
    return `${payload.person('event.comment.author.name')} added ${kind} to ${ticket(payload)}.${quoteOf(body)}`;
  },
};

/** Webhooks that subscribe to Zendesk events; webhooks of triggers have a custom body. */
export const ZENDESK: Integration = {
  name: 'zendesk',
  displayName: 'Zendesk',
  documentation: 'https://developer.zendesk.com/api-reference/webhooks/event-types/ticket-events/',
  eventOf: (payload) => payload.raw('type').replace(PREFIX, ''),
  events: {
    'ticket.created': {
      topic,
      text: (payload) =>
        `New ${ticket(payload)}${facts(payload)}.${quoteOf(textOfHtml(payload.maybe('detail.description')))}`,
    },
    'ticket.comment_added': commented,
    'ticket.status_changed': changed('status'),
    'ticket.priority_changed': changed('priority'),
    'ticket.subject_changed': changed('subject', code),
    'ticket.type_changed': changed('type'),
    // The payload contains only the ids of people and groups.
    'ticket.agent_assignment_changed': happened('was assigned', 'has no assignee any longer'),
    'ticket.group_assignment_changed': happened('moved to another group'),
    'ticket.merged': happened('was merged into another one'),
    'ticket.soft_deleted': happened('was deleted'),
    'ticket.marked_as_spam': happened('was marked as spam'),
  },
  offByDefault: ['ticket.subject_changed', 'ticket.type_changed', 'ticket.group_assignment_changed'],
  ignored: [
    ...[
      'ticket.attachment_linked_to_comment',
      'ticket.brand_changed',
      'ticket.custom_field_changed',
      'ticket.tags_changed',
    ],
    ...[
      'ticket.description_changed',
      'ticket.email_ccs_changed',
      'ticket.external_id_changed',
      'ticket.followers_changed',
    ],
    ...['ticket.form_changed', 'ticket.custom_status_changed', 'ticket.requester_changed', 'ticket.submitter_changed'],
    ...['ticket.task_due_at_changed', 'ticket.undeleted', 'ticket.permanently_deleted', 'ticket.organization_changed'],
  ],
};
