import { AnomalousPayload, type EventTemplate, type Integration, linkTo, type Payload } from './integration.js';

const OBJECT = 'data.object';

/** Stripe counts in the currency's smallest unit. @throws AnomalousPayload */
function money(payload: Payload, path: string): string {
  const [amount, currency] = [payload.at(`${OBJECT}.${path}`), payload.raw(`${OBJECT}.currency`)];
  if (typeof amount !== 'number' || !/^[a-z]{3}$/i.test(currency)) throw new AnomalousPayload(path);
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return `**${format.format(amount / 10 ** digits).replaceAll('\u00a0', ' ')}**`;
}

/** Returns a link to the object on the dashboard. */
function linked(payload: Payload, text: string, page: string, path = `${OBJECT}.id`): string {
  const id = payload.maybe(path);
  const mode = payload.at('livemode') === false ? 'test/' : '';
  return linkTo(text, id === '' ? null : `https://dashboard.stripe.com/${mode}${page}/${encodeURIComponent(id)}`);
}

const customer = (payload: Payload): string => {
  const paths = ['customer_name', 'billing_details.name', 'customer_email', 'receipt_email', 'billing_details.email'];
  const known = paths.map((path) => `${OBJECT}.${path}`).find((path) => payload.has(path));
  const name = known === undefined ? '' : payload.text(known);
  const id = payload.maybe(`${OBJECT}.customer`);
  if (name === '' && id === '') return '';
  return ` of ${linked(payload, name || payload.text(`${OBJECT}.customer`), 'customers', `${OBJECT}.customer`)}`;
};

const reason = (payload: Payload, path: string): string =>
  payload.has(`${OBJECT}.${path}`) ? `: ${payload.text(`${OBJECT}.${path}`).replace(/\.$/, '')}` : '';

const on = (topic: string, text: (payload: Payload) => string): EventTemplate => ({
  topic: () => topic,
  text: (payload) => `${text(payload)}.`,
});

const charge = (done: string, amount = 'amount'): EventTemplate =>
  on(
    'charges',
    (payload) =>
      `${linked(payload, 'Charge', 'payments')}${customer(payload)} for ${money(payload, amount)} ${done}${reason(payload, 'failure_message')}`,
  );
const intent = (done: string): EventTemplate =>
  on(
    'charges',
    (payload) =>
      `${linked(payload, 'Payment', 'payments')}${customer(payload)} of ${money(payload, 'amount')} ${done}${reason(payload, 'last_payment_error.message')}`,
  );
const dispute = (done: string): EventTemplate =>
  on(
    'disputes',
    (payload) =>
      `${linked(payload, 'Dispute', 'disputes')} about ${money(payload, 'amount')} ${done}${status(payload)}${reason(payload, 'reason')}`,
  );
const subscription = (done: string, status: (payload: Payload) => string = () => ''): EventTemplate =>
  on(
    'subscriptions',
    (payload) => `${linked(payload, 'Subscription', 'subscriptions')}${customer(payload)} ${done}${status(payload)}`,
  );
const status = (payload: Payload): string => ` (${payload.text(`${OBJECT}.status`).replaceAll('_', ' ')})`;
const invoice = (done: string, amount = 'amount_due'): EventTemplate =>
  on(
    'invoices',
    (payload) =>
      `${linked(payload, `Invoice ${payload.has(`${OBJECT}.number`) ? payload.text(`${OBJECT}.number`) : ''}`.trim(), 'invoices')}${customer(payload)} over ${money(payload, amount)} ${done}`,
  );
const payout = (done: string): EventTemplate =>
  on(
    'payouts',
    (payload) =>
      `${linked(payload, 'Payout', 'payouts')} of ${money(payload, 'amount')} ${done}${reason(payload, 'failure_message')}`,
  );
const customerChanged = (done: string): EventTemplate =>
  on('customers', (payload) => {
    const name = payload.has(`${OBJECT}.name`) ? 'name' : 'email';
    return `Customer ${linked(payload, payload.first(`${OBJECT}.${name}`, `${OBJECT}.id`), 'customers')} ${done}`;
  });

export const STRIPE: Integration = {
  name: 'stripe',
  displayName: 'Stripe',
  documentation: 'https://docs.stripe.com/webhooks',
  eventOf: (payload) => payload.raw('type'),
  events: {
    'charge.succeeded': charge('succeeded'),
    'charge.failed': charge('**failed**'),
    'charge.refunded': charge('was refunded', 'amount_refunded'),
    'charge.dispute.created': dispute('was opened'),
    'charge.dispute.closed': dispute('was closed'),
    'checkout.session.completed': on(
      'checkouts',
      (payload) => `Checkout${customer(payload)} over ${money(payload, 'amount_total')} is complete`,
    ),
    'customer.created': customerChanged('was created'),
    'customer.updated': customerChanged('was changed'),
    'customer.deleted': customerChanged('was deleted'),
    'customer.subscription.created': subscription('was created', status),
    'customer.subscription.updated': subscription('was changed', status),
    'customer.subscription.deleted': subscription('was **canceled**'),
    'customer.subscription.trial_will_end': subscription('ends its trial soon'),
    'invoice.created': invoice('was created'),
    'invoice.paid': invoice('was paid', 'amount_paid'),
    'invoice.payment_failed': invoice('could **not** be paid'),
    'invoice.payment_action_required': invoice('needs an action of the customer'),
    'payment_intent.succeeded': intent('succeeded'),
    'payment_intent.payment_failed': intent('**failed**'),
    'payout.paid': payout('was paid'),
    'payout.failed': payout('**failed**'),
  },
  // Other events report the same payments.
  offByDefault: [
    ...['customer.updated', 'customer.subscription.updated', 'invoice.created', 'payment_intent.succeeded'],
    ...['payment_intent.payment_failed', 'payout.paid'],
  ],
  ignored: [
    ...[
      'account.updated',
      'balance.available',
      'charge.updated',
      'charge.pending',
      'charge.captured',
      'invoice.updated',
    ],
    ...['customer.source.created', 'customer.source.updated', 'customer.source.deleted', 'invoice.finalized'],
    ...['invoice.payment_succeeded', 'invoice.upcoming', 'invoiceitem.created', 'invoiceitem.updated'],
    ...[
      'payment_intent.created',
      'payment_method.attached',
      'payout.created',
      'payout.updated',
      'payout.reconciliation_completed',
    ],
    ...['price.created', 'price.updated', 'product.created', 'product.updated', 'checkout.session.expired'],
    ...['setup_intent.created', 'setup_intent.succeeded', 'charge.dispute.updated', 'charge.dispute.funds_withdrawn'],
    ...['charge.dispute.funds_reinstated', 'charge.refund.updated', 'refund.created', 'refund.updated', 'plan.created'],
  ],
};
