import type { Linkifier } from '@parley/domain/realms';

/** Organization §6: all keys, always. */
export const presentLinkifier = (linkifier: Linkifier) => ({
  pattern: linkifier.pattern,
  url_template: linkifier.urlTemplate,
  id: linkifier.id,
  example_input: linkifier.exampleInput,
  reverse_template: linkifier.reverseTemplate,
  alternative_url_templates: linkifier.alternativeUrlTemplates,
});
