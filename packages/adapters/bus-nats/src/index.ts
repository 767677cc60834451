export { examineNats, type Installation, type NatsBus, type NatsBusOptions, openNatsBus } from './nats-bus.js';
