//! Every vector of the files beside this one, bit for bit. README.md says where they come from.
mod file;
mod lte_code_words;
mod lte_crc;
mod lte_gold_scrambling;
mod lte_modulation;
mod lte_qpp_table;
mod lte_rate_match_turbo;
mod lte_segmentation;
mod lte_turbo_encoder;
mod umts_chain_384k;
mod umts_crc;
mod umts_interleaver1;
mod umts_interleaver2;
mod umts_interleaver_perm;
mod umts_rate_match_conv;
mod umts_rate_match_turbo_puncture;
mod umts_turbo_encoder;
