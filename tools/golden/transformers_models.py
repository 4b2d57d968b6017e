"""Makes apps/examples/golden with transformers: small models with random weights, as `save_pretrained` writes them, and what they compute.

- gpt2/: a GPT-2 in shards. gpt2-bfloat16/: the same weights, rounded to bfloat16, in one file.
- bert/: a BERT with the heads of its pretraining, in shards.
- transformers.json: logits, tokens by greedy search, and what the samplers leave of logits.

Run: python tools/golden/transformers_models.py
"""

import json
import pathlib
import shutil

import torch
import transformers
from transformers import BertConfig, BertForPreTraining, GPT2Config, GPT2LMHeadModel
from transformers.generation.logits_process import TopKLogitsWarper, TopPLogitsWarper

SEED = 11
OUT = pathlib.Path(__file__).parents[2] / "apps/examples/golden"
END = 17


def numbers(tensor, digits=7):
    return [float(f"{v:.{digits}g}") for v in tensor.detach().double().flatten().tolist()]


def values(tensor):
    return {"shape": list(tensor.shape), "data": numbers(tensor)}


def save(model, name, **options):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, **options)
    # The configuration of the architecture is enough.
    (folder / "generation_config.json").unlink(missing_ok=True)
    for path in folder.iterdir():
        path.chmod(0o644)
    return sorted(p.name for p in folder.iterdir())


def jitter(model):
    """Every bias and scale its own value: zeros and ones would hide a swap."""
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=generator) * 0.1)


def make_gpt2():
    torch.manual_seed(SEED)
    config = GPT2Config(
        vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, bos_token_id=0, eos_token_id=END
    )
    model = GPT2LMHeadModel(config).eval()
    jitter(model)
    return model


def greedy(model, prompt, count, stop=None):
    """Each token by the whole model, without a cache."""
    tokens = torch.tensor([prompt])
    margins = []
    for _ in range(count):
        best = model(tokens).logits[0, -1].topk(2)
        margins.append(float(best.values[0] - best.values[1]))
        tokens = torch.cat([tokens, best.indices[None, :1]], 1)
        if stop is not None and int(tokens[0, -1]) == stop:
            break
    return tokens[0].tolist(), min(margins)


def gpt2_case(model):
    rng = torch.Generator().manual_seed(SEED + 1)
    tokens = torch.randint(0, 96, (2, 9), generator=rng)
    prompts = [torch.randint(0, 96, (n,), generator=rng).tolist() for n in (1, 4, 7)]
    generated, margin = zip(*(greedy(model, p, 20) for p in prompts))
    assert min(margin) > 3e-4, margin
    # transformers itself says the same.
    for prompt, tokens_of in zip(prompts, generated):
        own = model.generate(
            torch.tensor([prompt]), max_new_tokens=20, do_sample=False, eos_token_id=None, pad_token_id=0
        )
        assert own[0].tolist() == tokens_of
    # A token that each of the first two ends with somewhere.
    stop = generated[1][9]
    stopped = [greedy(model, p, 20, stop)[0] for p in prompts]
    return {
        "tokens": tokens.tolist(),
        "logits": values(model(tokens).logits),
        "prompts": prompts,
        "generated": generated,
        "stop": stop,
        "stopped": stopped,
    }


def warped(logits):
    """What is left of logits after top-k and top-p: the tokens that can still be drawn, and their probabilities."""

    def left(scores):
        return values(torch.softmax(scores, -1))

    return {
        "logits": values(logits),
        "temperature": left(logits / 0.7),
        "topK": left(TopKLogitsWarper(5)(None, logits)),
        "topP": left(TopPLogitsWarper(0.6)(None, logits)),
    }


def make_bert():
    torch.manual_seed(SEED)
    config = BertConfig(
        vocab_size=96,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=32,
        initializer_range=0.3,
    )
    model = BertForPreTraining(config).eval()
    jitter(model)
    return model


def bert_case(model):
    rng = torch.Generator().manual_seed(SEED + 2)
    tokens = torch.randint(1, 96, (3, 10), generator=rng)
    mask = torch.ones(3, 10, dtype=torch.long)
    mask[1, 6:] = 0
    mask[2, 2:] = 0
    tokens = tokens * mask
    types = torch.zeros(3, 10, dtype=torch.long)
    types[0, 4:] = 1
    types[1, 3:6] = 1
    out = model(tokens, attention_mask=mask, token_type_ids=types)
    return {
        "tokens": tokens.tolist(),
        "mask": mask.tolist(),
        "types": types.tolist(),
        "logits": values(out.prediction_logits),
        "relationship": values(out.seq_relationship_logits),
    }


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    result = {
        "made": {"torch": torch.__version__, "transformers": transformers.__version__, "seed": SEED},
    }
    gpt2 = make_gpt2()
    print(save(gpt2, "gpt2", max_shard_size="60KB"))
    result["gpt2"] = gpt2_case(gpt2)
    torch.manual_seed(SEED)
    result["samplers"] = warped(torch.randn(2, 12) * 2)
    print(save(gpt2.to(torch.bfloat16), "gpt2-bfloat16"))
    gpt2 = gpt2.to(torch.float32)
    result["gpt2Bfloat16"] = {"logits": values(gpt2(torch.tensor(result["gpt2"]["tokens"])).logits)}
    bert = make_bert()
    print(save(bert, "bert", max_shard_size="50KB"))
    result["bert"] = bert_case(bert)
    (OUT / "transformers.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")


with torch.no_grad():
    main()
