import { z } from 'zod';
import { kinds } from '../kinds/index.ts';
import { stamp } from '../kinds/shapes.ts';

/*
 * Shapes of the answers that hold no records of a kind. They become schemas of `/doc` under these names, with
 * descriptions of their members from `locales/<language>/fields.json`. Tests check every answer against them.
 */

const kindName = z.enum(kinds.map(({ name }) => name));

const change = z
  .object({
    kind: kindName,
    id: z.int(),
    change: z.enum(['created', 'updated', 'removed']),
    record: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Change' });
export const changesShape = z.object({ changes: z.array(change), next: z.string(), more: z.boolean() }).meta({ id: 'Changes' });

export const webhookShape = z
  .object({
    id: z.int(),
    url: z.url(),
    kinds: z.array(kindName),
    user: z.int(),
    state: z.enum(['active', 'paused', 'off']),
    created_at: stamp,
    secret: z.string().optional(),
  })
  .meta({ id: 'Webhook' });
export const webhooksShape = z.object({ webhooks: z.array(webhookShape) }).meta({ id: 'Webhooks' });
export const deletedWebhookShape = z.object({ deleted: z.literal(true), previous: webhookShape }).meta({ id: 'DeletedWebhook' });
export const queuedShape = z.object({ queued: z.int() }).meta({ id: 'QueuedMessages' });

const delivery = z
  .object({
    id: z.string(),
    hook: z.int(),
    number: z.int(),
    subject: z.string(),
    state: z.enum(['waiting', 'done', 'failed']),
    attempts: z.int(),
    next_at: z.string(),
    created_at: stamp,
    status: z.int(),
    error: z.string(),
  })
  .meta({ id: 'WebhookDelivery' });
export const deliveriesShape = z.object({ deliveries: z.array(delivery) }).meta({ id: 'WebhookDeliveries' });

/** Without headers, `headers` is an empty list, as PHP writes an empty object. */
const batchedAnswer = z.object({
  status: z.int(),
  body: z.unknown(),
  headers: z.union([z.record(z.string(), z.string()), z.array(z.string())]),
});
export const batchShape = z
  .object({ failed: z.literal('validation').optional(), responses: z.array(batchedAnswer.nullable()) })
  .meta({ id: 'Batch' });
