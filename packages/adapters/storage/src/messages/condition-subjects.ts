import type { MessageId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchWords } from '@parley/domain/markdown';
import {
  type MessageCondition,
  type MessageFilter,
  type SearchedText,
  searchedText,
  type Viewer,
} from '@parley/domain/messages';
import type { Parameter, Statements } from '../engine/statements.js';
import { searchLanguagesOf } from '../realms/realms.js';
import { readsText, wantedTerms } from './message-terms.js';
import {
  type ConditionRow,
  idOf,
  type MessageIndexRow,
  matchingRows,
  type ViewerMessageState,
} from './viewer-message-state.js';

/** Evaluates conditions on read state, flags and texts message by message, since no query can. */
export class ConditionSubjects {
  private readonly details;
  private readonly texts;

  constructor(
    private readonly statements: Statements,
    private readonly states: {
      load(viewer: Viewer, messages: readonly MessageIndexRow[]): Promise<ViewerMessageState>;
    },
    private readonly words: SearchWords,
  ) {
    const { inSet } = statements.dialect;
    this.details = statements.tuples<ConditionRow>(
      `SELECT m.id, m.channel_id, m.topic, c.privacy
       FROM message m LEFT JOIN channel c ON c.id = m.channel_id WHERE m.id ${inSet}`,
    );
    this.texts = statements.tuples<readonly [MessageId, string, string, string, settings: string]>(
      `SELECT m.id, m.topic, m.content, m.rendered_content, (SELECT settings FROM realm r WHERE r.id = m.realm_id)
       FROM message m WHERE m.id ${inSet}`,
    );
  }

  /** Returns the messages that match all conditions, in order; in scope `own`, only the viewer's own. */
  async matching(
    viewer: Viewer,
    indexRows: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
    scope: MessageFilter['scope'],
  ): Promise<MessageIndexRow[]> {
    if (indexRows.length === 0 || (conditions.length === 0 && scope === 'shared')) return [...indexRows];
    const ids = this.statements.dialect.set(indexRows.map(idOf));
    const [state, texts, details] = await Promise.all([
      this.states.load(viewer, indexRows),
      conditions.some(readsText) ? this.textsOf(ids, wantedTerms(conditions)) : null,
      this.details.all(ids),
    ]);
    return matchingRows(indexRows, { state, texts, details }, conditions, scope);
  }

  private async textsOf(
    ids: Parameter,
    wanted: readonly SearchedTerm[],
  ): Promise<ReadonlyMap<MessageId, SearchedText>> {
    const rows = await this.texts.all(ids);
    return new Map(
      rows.map(([id, topic, content, renderedContent, settings]) => [
        id,
        searchedText(this.words.inLanguages(searchLanguagesOf(settings)), { topic, content, renderedContent }, wanted),
      ]),
    );
  }
}
