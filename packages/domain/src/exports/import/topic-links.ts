import type { LinkifierRule, MarkdownRenderer, TopicLink } from '../../markdown/markdown.js';

/** A topic has many messages, which mostly come together. */
const MAX_TOPICS = 10_000;

/** Links in the topics of an organization whose export does not say them. */
export class TopicLinks {
  private readonly byTopic = new Map<string, readonly TopicLink[]>();

  constructor(
    private readonly renderer: Pick<MarkdownRenderer, 'topicLinks'>,
    private readonly linkifiers: readonly LinkifierRule[],
  ) {}

  of(topic: string): readonly TopicLink[] {
    let links = this.byTopic.get(topic);
    if (!links) {
      if (this.byTopic.size >= MAX_TOPICS) this.byTopic.clear();
      links = this.renderer.topicLinks(topic, this.linkifiers);
      this.byTopic.set(topic, links);
    }
    return links;
  }
}
