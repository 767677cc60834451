import type { MessageCondition, ViewerFlag } from '@parley/domain/messages';

/** Sources of the messages that may match a condition on the viewer's read state or flags. */
export interface PersonalSources<Source> {
  flagged(flag: Exclude<ViewerFlag, 'read' | 'channelWildcardMentioned'>): Source;
  mentioningChannel(): Source;
  unread(): Source;
}

/** Returns sources that together contain all matches of the condition; null if there are none. */
export function sourcesOf<Source>(condition: MessageCondition, make: PersonalSources<Source>): Source[] | null {
  switch (condition.kind) {
    case 'flag': {
      const { flag } = condition;
      if (flag === 'read') return null;
      return [flag === 'channelWildcardMentioned' ? make.mentioningChannel() : make.flagged(flag)];
    }
    case 'not': {
      const { condition: negated } = condition;
      return negated.kind === 'flag' && negated.flag === 'read' ? [make.unread()] : null;
    }
    case 'anyOf': {
      const parts = condition.conditions.map((each) => sourcesOf(each, make));
      return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
    }
    default:
      return null;
  }
}
