import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage, type FeeLevels, marketKey, TOPICS } from '../../schemas/index.ts';
import { FEES, FEE_LEVELS as LEVELS } from '../../test/support/api/fee-levels.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { Stage } from '../../test/support/api/stage.ts';
import { type RunningGateway, startGateway } from './server.ts';

let stage: Stage;
let gateway: RunningGateway;

beforeEach(async () => {
  stage = new Stage();
  await stage.markets();
  await fees({ low: 1 });
  gateway = await startGateway(stage.context());
});
afterEach(() => gateway.stop());

async function fees(members: Partial<FeeLevels>): Promise<void> {
  const value: FeeLevels = { ...FEES, ...members };
  await stage.log.append(TOPICS.feeViews, [{ key: marketKey(value), value: encodeMessage('FeeLevels', value) }]);
}

const connect = () => FeedClient.connect(gateway.endpoints.gateway ?? '');

describe('priorityfees channel', () => {
  it('sends only the six levels at each refresh, changed or not, without replay', async () => {
    const client = await connect();
    client.subscribe({ channel: 'PriorityFees' });
    await client.waitForCount(1);
    expect(client.received[0]?.message).toBe(
      'Subscribe received for channel: PriorityFees, market: SOL-PERP, marketType: perp',
    );
    await client.settle();
    expect(client.data('priorityFees_perp_0')).toEqual([]);
    await fees({});
    await fees({});
    await client.settle();
    expect(client.data('priorityFees_perp_0')).toEqual([LEVELS, LEVELS]);
    client.socket.close();
  });

  it('sends a market to its subscribers until they unsubscribe', async () => {
    const client = await connect();
    client.subscribe({ channel: 'priorityfees', market: 'SOL', marketType: 'spot' });
    await client.settle();
    await fees({});
    await fees({ marketType: 'spot', marketIndex: 1 });
    await client.settle();
    expect(client.data('priorityFees_perp_0')).toEqual([]);
    expect(client.data('priorityFees_spot_1')).toEqual([LEVELS]);
    client.send({ type: 'unsubscribe', channel: 'priorityfees', market: 'SOL', marketType: 'spot' });
    await client.settle();
    await fees({ marketType: 'spot', marketIndex: 1 });
    await client.settle();
    expect(client.data('priorityFees_spot_1')).toHaveLength(1);
    client.socket.close();
  });
});
