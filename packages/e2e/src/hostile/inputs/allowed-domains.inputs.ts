import type { InputContext, Inputs } from '../input-context.js';
import type { Fields } from '../routes.js';

async function newDomain({ n, post }: InputContext, fields: Fields = {}): Promise<Fields> {
  const domain = `d${n}.example.com`;
  await post('/realm/domains', { domain, allow_subdomains: true });
  return { domain, ...fields };
}

export const INPUTS: Inputs = {
  'POST /realm/domains': { 'a domain': ({ n }) => ({ domain: `d${n}.example.com`, allow_subdomains: true }) },
  'PATCH /realm/domains/:domain': {
    'a domain': (surroundings) => newDomain(surroundings, { allow_subdomains: false }),
  },
  'DELETE /realm/domains/:domain': { 'a domain': (surroundings) => newDomain(surroundings) },
};
