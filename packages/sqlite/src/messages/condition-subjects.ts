import type { ChannelPrivacy } from '@parley/domain/channels';
import type { ChannelId, MessageId } from '@parley/domain/kernel';
import {
  type ConditionSubject,
  HISTORICAL,
  type MessageCondition,
  type MessageFilter,
  matchesCondition,
  mentionedIn,
  type SearchedText,
  type Viewer,
} from '@parley/domain/messages';
import type { Connection, Query } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';
import { idOf, type MessageIndexRow, propertyBitsOf } from './message-index-row.js';
import { propertiesOf } from './stored-values.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Judges messages one by one, where no query can: by what their viewer has read and marked. */
export class ConditionSubjects {
  private readonly details: Query<readonly [MessageId, ChannelId | null, string, ChannelPrivacy | null]>;

  private readonly texts: Query<readonly [MessageId, string, string, string, string]>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
  ) {
    this.details = connection.tuples(
      `SELECT m.id, m.channel_id, m.topic, c.privacy
       FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value LEFT JOIN channel c ON c.id = m.channel_id`,
    );
    this.texts = connection.tuples(
      `SELECT m.id, m.topic, m.content, m.rendered_content, message_words(m.topic, m.rendered_content)
       FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value`,
    );
  }

  /** Those of which all the conditions hold, in their order; of the scope `own`, none but the viewer's own. */
  matching(
    viewer: Viewer,
    places: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
    scope: MessageFilter['scope'],
  ): MessageIndexRow[] {
    if (places.length === 0 || (conditions.length === 0 && scope === 'shared')) return [...places];
    const state = this.states.load(viewer, places);
    const texts = conditions.some(readsText) ? this.textsOf(places) : null;
    const details = new Map(this.details.all(jsonList(places.map(idOf))).map((each) => [each[0], each]));
    return places.filter((place) => {
      const own = state.flags(place);
      if (!own && scope === 'own') return false;
      const [, channelId, topic, channelPrivacy] = details.get(idOf(place))!;
      const subject: ConditionSubject = {
        message: {
          id: idOf(place),
          senderId: place[1],
          recipientId: place[2],
          channelId,
          topic,
          ...propertiesOf(propertyBitsOf(place)),
        },
        channelPrivacy,
        flags: own ?? HISTORICAL,
        text: () => texts!.get(idOf(place))!,
      };
      return conditions.every((condition) => matchesCondition(subject, condition));
    });
  }

  private textsOf(places: readonly MessageIndexRow[]): ReadonlyMap<MessageId, SearchedText> {
    const rows = this.texts.all(jsonList(places.map(idOf)));
    return new Map(
      rows.map(([id, topic, content, renderedContent, words]) => [
        id,
        { terms: new Set(JSON.parse(words)), mentionedUserIds: mentionedIn(renderedContent), content, topic },
      ]),
    );
  }
}

function readsText(condition: MessageCondition): boolean {
  switch (condition.kind) {
    case 'not':
      return readsText(condition.condition);
    case 'anyOf':
    case 'allOf':
      return condition.conditions.some(readsText);
    default:
      return condition.kind === 'search' || condition.kind === 'mentions';
  }
}
