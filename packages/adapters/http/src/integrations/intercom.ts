import {
  type EventTemplate,
  type Integration,
  linkTo,
  type Payload,
  quoteOf,
  textOfHtml,
  topicOf,
} from './integration.js';

const ITEM = 'data.item';
const PARTS = `${ITEM}.conversation_parts.conversation_parts`;

const partOf = (payload: Payload): Payload | undefined => payload.list(PARTS).at(-1);
const author = (payload: Payload): string => payload.person('author.name', 'author.email');

const conversation = (payload: Payload, noun = 'conversation'): string => {
  const [app, id] = [payload.maybe('app_id'), payload.raw(`${ITEM}.id`)];
  const url = `https://app.intercom.com/a/apps/${encodeURIComponent(app)}/conversations/${encodeURIComponent(id)}`;
  return linkTo(`${noun} ${payload.text(`${ITEM}.id`)}`, app === '' ? null : url);
};

const conversationTopic = (payload: Payload): string =>
  topicOf(`Conversation ${payload.raw(`${ITEM}.id`)}`, textOfHtml(payload.maybe(`${ITEM}.source.subject`)));

const started = (who: string): EventTemplate => ({
  topic: conversationTopic,
  text: (payload) =>
    `${payload.person(`${ITEM}.source.author.name`, `${ITEM}.source.author.email`)} (${who}) started ${conversation(payload)}.${quoteOf(textOfHtml(payload.maybe(`${ITEM}.source.body`)))}`,
});

const replied = (done: string): EventTemplate => ({
  topic: conversationTopic,
  text: (payload) => {
    const part = partOf(payload);
    return `${part ? author(part) : 'Somebody'} ${done} ${conversation(payload)}.${quoteOf(textOfHtml(part?.maybe('body') ?? ''))}`;
  },
});

const rated: EventTemplate = {
  topic: conversationTopic,
  text: (payload) =>
    `${conversation(payload, 'Conversation')} was rated **${payload.text(`${ITEM}.conversation_rating.rating`)}** of 5.${payload.quote(`${ITEM}.conversation_rating.remark`)}`,
};

const contact = (done: string): EventTemplate => ({
  topic: () => 'Contacts',
  text: (payload) => {
    const path = payload.has(`${ITEM}.contact`) ? `${ITEM}.contact` : ITEM;
    return `The contact ${payload.person(`${path}.name`, `${path}.email`, `${path}.id`)} ${done}.`;
  },
});

const ticket = (done: string): EventTemplate => ({
  topic: (payload) => topicOf(`Ticket ${payload.raw(`${ITEM}.ticket.id`)}`),
  text: (payload) => {
    const path = `${ITEM}.ticket`;
    const title = payload.has(`${path}.ticket_attributes._default_title_`)
      ? ` ${payload.text(`${path}.ticket_attributes._default_title_`)}`
      : '';
    const state = payload.has(`${path}.ticket_state`)
      ? ` (**${payload.text(`${path}.ticket_state`).replaceAll('_', ' ')}**)`
      : '';
    return `Ticket ${payload.text(`${path}.id`)}${title} ${done}${state}.`;
  },
});

export const INTERCOM: Integration = {
  name: 'intercom',
  displayName: 'Intercom',
  documentation: 'https://developers.intercom.com/docs/webhooks',
  eventOf: (payload) => payload.raw('topic'),
  events: {
    'conversation.user.created': started('customer'),
    'conversation.user.replied': replied('replied in'),
    'conversation.admin.single.created': started('team'),
    'conversation.admin.replied': replied('replied in'),
    'conversation.admin.noted': replied('added a note to'),
    'conversation.admin.assigned': replied('assigned'),
    'conversation.admin.opened': replied('reopened'),
    'conversation.admin.closed': replied('closed'),
    'conversation.admin.snoozed': replied('snoozed'),
    'conversation.admin.unsnoozed': replied('ended the snooze of'),
    'conversation.rating.added': rated,
    'contact.user.created': contact('was created'),
    'contact.lead.created': contact('was created as a lead'),
    'contact.deleted': contact('was deleted'),
    'contact.unsubscribed': contact('unsubscribed from emails'),
    'ticket.created': ticket('was created'),
    'ticket.state.updated': ticket('changed'),
    ping: { topic: () => 'Intercom', text: (payload) => payload.text(`${ITEM}.message`) },
  },
  offByDefault: ['conversation.admin.snoozed', 'conversation.admin.unsnoozed', 'contact.lead.created'],
  ignored: [
    ...[
      'contact.user.updated',
      'contact.lead.updated',
      'contact.email.updated',
      'contact.tag.created',
      'contact.merged',
    ],
    ...[
      'conversation_part.tag.created',
      'conversation.read',
      'conversation.deleted',
      'company.created',
      'company.updated',
    ],
    ...['admin.away_mode_updated', 'admin.logged_in', 'admin.logged_out', 'visitor.signed_up', 'user.tag.created'],
  ],
};
