import { detailed, type EventTemplate, type Integration, linkTo, type Payload, topicOf } from './integration.js';

const DATA = 'action.data';
const member = (payload: Payload): string =>
  payload.person('action.memberCreator.fullName', 'action.memberCreator.username');
const topic = (payload: Payload): string => topicOf(payload.raw(`${DATA}.board.name`));

const card = (payload: Payload): string => {
  const link = payload.maybe(`${DATA}.card.shortLink`);
  const url = link === '' ? null : `https://trello.com/c/${encodeURIComponent(link)}`;
  return linkTo(payload.text(`${DATA}.card.name`), url);
};

const done = (text: (payload: Payload) => string, quoted = ''): EventTemplate => ({
  topic,
  text: (payload) => `${member(payload)} ${text(payload)}.${quoted === '' ? '' : payload.quote(quoted)}`,
});
const named = (payload: Payload, path: string): string => payload.code(`${DATA}.${path}.name`);
const person = (payload: Payload): string => payload.person('action.member.fullName', `${DATA}.member.name`);

/** Returns the names of the members that an update changed. */
const changesOf = (payload: Payload): readonly string[] => Object.keys(Object(payload.at(`${DATA}.old`)));

const cardText = (payload: Payload): string => {
  const changes = changesOf(payload);
  if (payload.has(`${DATA}.listAfter`)) {
    return `moved ${card(payload)} from ${named(payload, 'listBefore')} to ${named(payload, 'listAfter')}`;
  }
  if (changes.includes('closed')) {
    return `${payload.has(`${DATA}.card.closed`) ? 'archived' : 'restored'} ${card(payload)}`;
  }
  if (changes.includes('dueComplete')) {
    return `marked ${card(payload)} as ${payload.has(`${DATA}.card.dueComplete`) ? '' : 'not '}complete`;
  }
  if (changes.includes('due')) {
    return payload.has(`${DATA}.card.due`)
      ? `set the due date of ${card(payload)} to ${payload.code(`${DATA}.card.due`)}`
      : `removed the due date of ${card(payload)}`;
  }
  if (changes.includes('name')) return `renamed ${payload.code(`${DATA}.old.name`)} to ${card(payload)}`;
  if (changes.includes('desc')) return `changed the description of ${card(payload)}`;
  return `changed ${card(payload)}`;
};

const checkItem = (payload: Payload): string =>
  `${payload.maybe(`${DATA}.checkItem.state`) === 'complete' ? 'completed' : 'reopened'} ${named(payload, 'checkItem')} of ${card(payload)}`;

const events: Readonly<Record<string, EventTemplate>> = {
  createCard: done(
    (payload) => `created ${card(payload)}${payload.has(`${DATA}.list`) ? ` in ${named(payload, 'list')}` : ''}`,
  ),
  updateCard: done(cardText),
  'updateCard.edited': done(cardText),
  // The payload contains no name of a deleted card.
  deleteCard: done((payload) => `deleted card ${payload.text(`${DATA}.card.idShort`)} from ${named(payload, 'list')}`),
  commentCard: done((payload) => `commented on ${card(payload)}`, `${DATA}.text`),
  updateComment: {
    topic,
    text: (payload) =>
      `${member(payload)} edited a comment on ${card(payload)}.${payload.quote(`${DATA}.action.text`)}`,
  },
  addMemberToCard: done((payload) => `added ${person(payload)} to ${card(payload)}`),
  removeMemberFromCard: done((payload) => `removed ${person(payload)} from ${card(payload)}`),
  addLabelToCard: done((payload) => `added the label ${named(payload, 'label')} to ${card(payload)}`),
  removeLabelFromCard: done((payload) => `removed the label ${named(payload, 'label')} from ${card(payload)}`),
  addAttachmentToCard: done((payload) => {
    const attachment = payload.link(payload.text(`${DATA}.attachment.name`), `${DATA}.attachment.url`);
    return `attached ${attachment} to ${card(payload)}`;
  }),
  addChecklistToCard: done((payload) => `added the checklist ${named(payload, 'checklist')} to ${card(payload)}`),
  createCheckItem: done((payload) => `added ${named(payload, 'checkItem')} to ${card(payload)}`),
  updateCheckItemStateOnCard: done(checkItem),
  moveCardToBoard: done((payload) => `moved ${card(payload)} from the board ${named(payload, 'boardSource')}`),
  moveCardFromBoard: done((payload) => `moved ${card(payload)} to the board ${named(payload, 'boardTarget')}`),
  createList: done((payload) => `created the list ${named(payload, 'list')}`),
  updateList: done((payload) => {
    const [changes, list] = [changesOf(payload), `the list ${named(payload, 'list')}`];
    if (changes.includes('name'))
      return `renamed the list ${payload.code(`${DATA}.old.name`)} to ${named(payload, 'list')}`;
    if (changes.includes('closed')) return `${payload.has(`${DATA}.list.closed`) ? 'archived' : 'restored'} ${list}`;
    return `changed ${list}`;
  }),
  addMemberToBoard: done((payload) => `added ${person(payload)} to the board`),
  removeMemberFromBoard: done((payload) => `removed ${person(payload)} from the board`),
};

/** Other changes of a card are edits, such as a new position in its list. */
const CHANGES: readonly string[] = ['closed', 'due', 'dueComplete', 'idList'];

export const TRELLO: Integration = {
  name: 'trello',
  displayName: 'Trello',
  documentation: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
  eventOf: (payload) => {
    const isEdit = !changesOf(payload).some((name) => CHANGES.includes(name));
    return detailed(events, payload.raw('action.type'), isEdit ? 'edited' : '');
  },
  events,
  offByDefault: [
    ...['updateCard.edited', 'updateComment', 'addLabelToCard', 'removeLabelFromCard', 'createCheckItem'],
    ...['updateList'],
  ],
  ignored: [
    ...['updateBoard', 'updateCheckItem', 'deleteCheckItem', 'updateChecklist', 'removeChecklistFromCard'],
    ...['deleteAttachmentFromCard', 'deleteComment', 'updateLabel', 'createLabel', 'deleteLabel', 'copyCard'],
    ...['convertToCardFromCheckItem', 'voteOnCard', 'enablePlugin', 'disablePlugin', 'updateCustomFieldItem'],
  ],
};
