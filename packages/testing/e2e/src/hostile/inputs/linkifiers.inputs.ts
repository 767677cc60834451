import { type InputContext, type Inputs, lengthened } from '../input-context.js';
import type { Fields } from '../routes.js';

/** Linkifier of maximum length that matches quickly. */
const linkifier = (n: number): Fields => ({
  pattern: lengthened(`L${n}-(?P<id>[0-9]+)`, 1000),
  url_template: lengthened('https://example.com/{id}/', 1000),
  alternative_url_templates: Array.from({ length: 20 }, () => lengthened('https://example.com/{id}/', 1000)),
});
const newLinkifier = async ({ n, post }: InputContext): Promise<Fields> => ({
  filter_id: (await post('/realm/filters', linkifier(n))).id,
  ...linkifier(n + 1_000_000),
});

export const INPUTS: Inputs = {
  'POST /realm/filters': { 'a linkifier': ({ n }) => linkifier(n) },
  'PATCH /realm/filters/:filter_id': { 'a linkifier': (surroundings) => newLinkifier(surroundings) },
  'PATCH /realm/linkifiers': {
    'all of them': async ({ post }) => {
      const { realm_linkifiers: linkifiers } = await post('/register', {
        event_types: [],
        fetch_event_types: ['realm_linkifiers'],
        client_capabilities: { notification_settings_null: true, linkifier_url_template: true },
      });
      return { ordered_linkifier_ids: (linkifiers as { readonly id: number }[]).map(({ id }) => id).reverse() };
    },
  },
};
